/**
 * Version of the queue's layout in Redis (RedisJournal.ts). A release refuses an unknown version: two releases that read the same keys
 * differently would repeat or lose work. Layouts 1 to 5 were those of a queue of Lua scripts, layout 6 had a hash of events.
 */
import type { Redis } from "ioredis"
import type { Reason } from "../../domain/Reason.ts"

const version = "7"
/** Key that only the first layout, which had no version, uses. */
const ofTheFirst = "counts"

/** Stores the version if there is none, also after Redis has lost all keys. */
export const mark = (redis: Redis, base: string): Promise<unknown> => redis.setnx(`${base}layout`, version)

/** Returns why this release cannot use the keys, or undefined if it can; then they are marked with its version. */
export const findOtherLayout = async (redis: Redis, base: string): Promise<Reason | undefined> => {
  const first = (await redis.exists(`${base}${ofTheFirst}`)) === 1
  if (!first) await mark(redis, base)
  const found = first ? "1" : await redis.get(`${base}layout`)
  if (found === version) return undefined
  return { _tag: "RedisLayoutUnknown", keys: base, layout: String(found), known: version }
}
