/**
 * Names on the bus. Every subject starts with the installation's prefix, and every part that comes from outside is made one token:
 * a subject has no room for dots, spaces and wildcards in a name.
 */
import { createHash } from "node:crypto"

/** A text as one token of a subject, or one part of a key: itself when it is short and plain, else a digest of it. */
export const token = (text: string): string =>
  /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : `_${createHash("sha256").update(text).digest("base64url")}`

/** Where a runner of the cluster greets (no incarnation) and serves (with one). */
export const runnerSubject = (prefix: string, address: string, ...more: ReadonlyArray<string>): string =>
  [prefix, "runner", token(address), ...more].join(".")

/** Events that may be lost, by topic. */
export const eventSubject = (prefix: string, topic: string): string => `${prefix}.events.${token(topic)}`

/** What waits in a work queue, by key. */
export const workSubject = (prefix: string, queue: string, key: string): string =>
  `${prefix}.work.${queue}.${token(key)}`

export const allWork = (prefix: string, queue: string): string => `${prefix}.work.${queue}.>`

/** The one subject of a log. */
export const logSubject = (prefix: string, log: string): string => `${prefix}.log.${log}`
