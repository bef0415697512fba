import { scope } from './scope';

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
    if (new URL(url, scope.location.href).origin !== scope.location.origin)
      throw new TypeError('a foreign script');
    return url;
  },
};

/** The one policy of this realm that may name scripts to load (formats.md 11). */
export const policy: Policy =
  (scope as { trustedTypes?: PolicyFactory }).trustedTypes?.createPolicy('holdfast', rules) ?? rules;
