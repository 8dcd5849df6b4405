/**
 * The version of how the queue stands in Redis (redis/shared.lua). A release that does not know what it finds refuses it: two that read
 * the same keys differently would do work twice, or lose it.
 */
import type { Redis } from "ioredis"

const version = "5"
/** Only the first layout, which had no version, has this key. */
const ofTheFirst = "counts"

/** Names the version on keys that have none yet, also again when Redis has forgotten all. */
export const mark = (redis: Redis, base: string): Promise<unknown> => redis.setnx(`${base}layout`, version)

/** Why this release cannot work on the keys; undefined when it can, and they are marked as its own. */
export const foreignLayout = async (redis: Redis, base: string): Promise<string | undefined> => {
  const first = (await redis.exists(`${base}${ofTheFirst}`)) === 1
  if (!first) await mark(redis, base)
  const found = first ? "1" : await redis.get(`${base}layout`)
  if (found === version) return undefined
  return (
    `the keys ${base}* have layout ${found}, and this release knows ${version}. ` +
    "Let the release that wrote them finish its queue, or remove them: what was accepted is queued again from its records."
  )
}
