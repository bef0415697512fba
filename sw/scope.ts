/** This realm's global object, which the library types as that of any worker. */
export const scope = self as unknown as ServiceWorkerGlobalScope;
