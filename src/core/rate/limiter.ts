import { present } from '../assert';
import { ed25519 } from '../crypto/ed25519';
import { DecodeError } from '../errors';
import { type Bytes, type EventId, fromHex, toHex } from '../ids';
import { limits } from '../limits';
import { base64urlOf } from '../wire/base64url';
import { decodeAll, encodeWith, utf8Bytes } from '../wire/codec';

/** One of the events an identity may make in a rate epoch. */
export interface Ticket {
  /** Lower-case hex of the identity's public name. */
  readonly identity: string;
  readonly epoch: number;
  /** From 0 up to, and without, the tickets of an epoch. */
  readonly ticket: number;
}

/** A ticket as a blob claims to have spent it. Nothing is believed before `holds`. */
export interface Claim extends Ticket {
  readonly proof: Bytes;
}

/** What a proof is bound to, so that it serves for nothing else. */
export interface Binding {
  readonly magic: Bytes;
  readonly event: EventId;
}

/**
 * How a network bounds what one identity may send: identities, rate epochs, tickets, and the proof that an event has
 * spent one. Everything above this seam works with another proof as well.
 */
export interface RateLimiter {
  readonly ticketsPerEpoch: number;
  /** The rate epoch of a time, unix ms. */
  epochOf(timeMs: number): number;
  /** When a rate epoch is over, unix ms. */
  endOf(epoch: number): number;
  /** Public name of an identity's secret, lower-case hex. */
  identityOf(secret: Bytes): string;
  /** The blob that proves a ticket of this identity spent on this event. */
  prove(secret: Bytes, at: { readonly epoch: number; readonly ticket: number }, to: Binding): Bytes;
  /** What a blob claims; `undefined` when it is no proof in form. Total. */
  claimOf(blob: Bytes): Claim | undefined;
  /** True when the claim's proof holds for this event. */
  holds(claim: Claim, to: Binding): boolean;
}

/** Checks an Ed25519 signature (RFC 8032). Total: false for whatever is malformed. */
export type Verify = (signature: Bytes, message: Bytes, publicKey: Bytes) => boolean;

const version = 1;
const identityBytes = 32;
const signatureBytes = 64;
const domain = utf8Bytes('holdfast-rate-v1');

/**
 * The limiter that ships: one Ed25519 signature a ticket, 107 bytes (formats.md 8.4). A registered public key links
 * all events of its owner. `verify` is the arithmetic of the realm it runs in.
 */
export function ed25519Limiter(verify: Verify = verifyPurely): RateLimiter {
  return {
    ticketsPerEpoch: limits.rateTicketsPerEpoch,
    epochOf,
    endOf: (epoch) => limits.rateEpochZeroMs + (epoch + 1) * limits.rateEpochMs,
    identityOf: (secret) => toHex(ed25519.getPublicKey(secret)),
    prove(secret, { epoch, ticket }, to) {
      const signature = ed25519.sign(messageOf({ epoch, ticket }, to), secret);
      return encodeWith((writer) => {
        writer.u8(version).bytes(ed25519.getPublicKey(secret));
        writer.u64(BigInt(epoch)).u16(ticket).bytes(signature);
      });
    },
    claimOf,
    holds: (claim, to) =>
      verify(
        claim.proof,
        messageOf(claim, to),
        present(fromHex(claim.identity), 'an identity of a claim is hex'),
      ),
  };
}

/** An identity's public name as people and configurations write it: base64url. */
export function identityText(identity: string): string {
  return base64urlOf(present(fromHex(identity), 'an identity is hex'));
}

function epochOf(timeMs: number): number {
  return Math.max(0, Math.floor((timeMs - limits.rateEpochZeroMs) / limits.rateEpochMs));
}

function messageOf(at: { readonly epoch: number; readonly ticket: number }, to: Binding): Bytes {
  return encodeWith((writer) => {
    writer.bytes(domain).bytes(to.magic).u64(BigInt(at.epoch)).u16(at.ticket);
    writer.bytes(present(fromHex(to.event), 'an event id is hex'));
  });
}

function claimOf(blob: Bytes): Claim | undefined {
  try {
    return decodeAll(blob, (reader) => {
      if (reader.u8() !== version) throw new DecodeError('a proof of another version');
      const identity = toHex(reader.bytes(identityBytes));
      const epoch = reader.u64();
      const ticket = reader.u16();
      const proof = reader.bytes(signatureBytes);
      if (epoch > BigInt(Number.MAX_SAFE_INTEGER)) throw new DecodeError('an epoch no time lies in');
      return { identity, epoch: Number(epoch), ticket, proof };
    });
  } catch (error) {
    if (error instanceof DecodeError) return undefined;
    throw error;
  }
}

function verifyPurely(signature: Bytes, message: Bytes, publicKey: Bytes): boolean {
  return ed25519.verify(signature, message, publicKey);
}
