import { DecodeError } from '../errors';
import type { Bytes } from '../ids';
import { decodePrivmsg, type Privmsg, privmsgVersion } from './privmsg';
import type { NetworkProfile } from './profile';

/** First byte of a sealed envelope (formats.md 4.2). */
const envelopeByte = 1;

/** What an event's content is, by its first byte (formats.md 4.1). */
export type Content =
  | { readonly kind: 'privmsg'; readonly privmsg: Privmsg }
  /** A sealed envelope, whole. */
  | { readonly kind: 'sealed'; readonly envelope: Bytes }
  /** Kept and relayed, not shown: of another kind, or a message that does not read. */
  | { readonly kind: 'opaque' };

/** Looks into an event's content. Never throws for what stands in it. */
export function readContent(profile: NetworkProfile, content: Bytes): Content {
  const first = content[0];
  if (first === envelopeByte && profile.logicalIds) return { kind: 'sealed', envelope: content };
  if (first !== privmsgVersion) return { kind: 'opaque' };
  try {
    return { kind: 'privmsg', privmsg: decodePrivmsg(profile, content) };
  } catch (error) {
    if (error instanceof DecodeError) return { kind: 'opaque' };
    throw error;
  }
}
