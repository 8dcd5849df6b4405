/**
 * Builds names on the bus. Every subject starts with the installation's prefix, and every part from outside becomes one token, because a
 * subject cannot contain names with dots, spaces or wildcards.
 */
import { createHash } from "node:crypto"

/** Converts a text to one token of a subject or one part of a key: unchanged if it is short and plain, otherwise a digest. */
export const token = (text: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : `_${createHash("sha256").update(text).digest("base64url")}`

/** Subject for handshakes with a runner of the cluster (no incarnation) and for its sessions (with one). */
export const runnerSubject = (prefix: string, address: string, ...more: ReadonlyArray<string>): string =>
  [prefix, "runner", token(address), ...more].join(".")

/** Subject on which a process responds while it is connected. */
export const presenceSubject = (prefix: string, id: string): string => `${prefix}.present.${token(id)}`

/** Subject of events that may be lost, by topic. */
export const eventSubject = (prefix: string, topic: string): string => `${prefix}.events.${token(topic)}`

/** Subject of messages in a work queue, by key. */
export const workSubject = (prefix: string, queue: string, key: string): string =>
  `${prefix}.work.${queue}.${token(key)}`

export const allWork = (prefix: string, queue: string): string => `${prefix}.work.${queue}.>`

/** Prefix of the subjects of a log's snapshots. */
export const pagesSubject = (prefix: string, log: string): string => `${prefix}.pages.${log}`

/** Subject of a log. */
export const logSubject = (prefix: string, log: string): string => `${prefix}.log.${log}`
