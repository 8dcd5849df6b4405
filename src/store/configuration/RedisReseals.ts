/** Stores the sealing of credentials in Redis. */
import { Effect } from "effect"
import { ResealStore } from "../../config/revisions/ResealStore.ts"
import { parseReseal } from "../../config/revisions/StoredRecords.ts"
import type { SourceCall } from "./RedisCall.ts"
import { parsed } from "./StoredText.ts"

/** KEYS: job. ARGV: version, job. */
const saveScript = `
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version ~= tonumber(ARGV[1]) - 1 then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'job', ARGV[2])
return 1`

export const makeReseals = (call: SourceCall, base: string): ResealStore["Service"] => {
  const key = `${base}reseal`
  return ResealStore.of({
    get: Effect.flatMap(
      call("reseals.get", (client) => client.hget(key, "job")),
      (text) => (text === null ? Effect.succeed(undefined) : parsed("reseals.get", parseReseal(text)))
    ),
    save: (job) =>
      Effect.map(
        call("reseals.save", (client) => client.eval(saveScript, 1, key, String(job.version), JSON.stringify(job))),
        (reply) => reply === 1
      )
  })
}
