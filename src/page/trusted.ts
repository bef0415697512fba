interface Policy {
  /** Typed as the text it stands for; under Trusted Types it is the object that script sinks demand. */
  createScriptURL(url: string): string;
}

interface PolicyFactory {
  createPolicy(name: string, rules: Policy): Policy;
}

/** Lets scripts of our own origin through, by path. */
const rules: Policy = {
  createScriptURL(url) {
    if (new URL(url, location.href).origin !== location.origin) throw new TypeError('a foreign script');
    return url;
  },
};

/**
 * The one policy of this realm (formats.md 11): `register` and `new SharedWorker` take only addresses it made. A page
 * may make it once; whoever needs a worker imports it from here.
 */
export const policy: Policy =
  (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes?.createPolicy('holdfast', rules) ?? rules;
