/** Stores drafts in Redis. */
import { Effect } from "effect"
import {
  DraftStore,
  maxDrafts,
  maxDraftsPerOwner,
  maxOwnerBytes,
  maxTotalBytes
} from "../../config/revisions/DraftStore.ts"
import { parseDraft } from "../../config/revisions/StoredRecords.ts"
import type { SourceCall } from "./RedisCall.ts"
import { texts } from "./RedisCall.ts"
import { parsed } from "./StoredText.ts"

/** KEYS: drafts, versions, owners. ARGV: id, version, draft, owner, limit per owner, limit, the same two in bytes. */
const saveDraftScript = `
local version = tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0')
if version ~= tonumber(ARGV[2]) - 1 then return {'moved', redis.call('HGET', KEYS[1], ARGV[1])} end
local own, ownBytes, bytes = 0, #ARGV[3], #ARGV[3]
local owners = redis.call('HGETALL', KEYS[3])
for i = 1, #owners, 2 do
  if owners[i] ~= ARGV[1] then
    local size = redis.call('HSTRLEN', KEYS[1], owners[i])
    bytes = bytes + size
    if owners[i + 1] == ARGV[4] then own = own + 1; ownBytes = ownBytes + size end
  end
end
if version == 0 and own >= tonumber(ARGV[5]) then return {'many', ARGV[5]} end
if version == 0 and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[6]) then return {'many', ARGV[6]} end
if ownBytes > tonumber(ARGV[7]) then return {'large', ARGV[7]} end
if bytes > tonumber(ARGV[8]) then return {'large', ARGV[8]} end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[3], ARGV[1], ARGV[4])
return {'saved'}`

/** KEYS: drafts, versions, owners. ARGV: id, version. */
const removeDraftScript = `
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
for _, key in ipairs(KEYS) do redis.call('HDEL', key, ARGV[1]) end
return 1`

export const makeDrafts = (call: SourceCall, base: string): DraftStore["Service"] => {
  const keys = [`${base}drafts`, `${base}draft-versions`, `${base}draft-owners`] as const
  return DraftStore.of({
    get: Effect.fnUntraced(function* (id) {
      const text = yield* call("drafts.get", (client) => client.hget(keys[0], id))
      return text === null ? undefined : yield* parsed("drafts.get", parseDraft(text))
    }),
    list: Effect.flatMap(
      call("drafts.list", (client) => client.hgetall(keys[0])),
      (all) =>
        Effect.forEach(
          Object.entries(all).toSorted(([left], [right]) => (left < right ? 1 : -1)),
          ([, text]) => parsed("drafts.list", parseDraft(text))
        )
    ),
    save: Effect.fnUntraced(function* (draft) {
      const reply = yield* call("drafts.save", (client) =>
        client.eval(
          saveDraftScript,
          3,
          ...keys,
          draft.id,
          String(draft.version),
          JSON.stringify(draft),
          draft.owner,
          String(maxDraftsPerOwner),
          String(maxDrafts),
          String(maxOwnerBytes),
          String(maxTotalBytes)
        )
      )
      const [outcome, detail = ""] = texts(reply)
      if (outcome === "saved") return { _tag: "Saved" } as const
      if (outcome === "many") return { _tag: "TooMany", limit: Number(detail) } as const
      if (outcome === "large") return { _tag: "TooLarge", limit: Number(detail) } as const
      const current = detail === "" ? undefined : yield* parsed("drafts.save", parseDraft(detail))
      return { _tag: "Moved", current } as const
    }),
    remove: (id, version) =>
      Effect.map(
        call("drafts.remove", (client) => client.eval(removeDraftScript, 3, ...keys, id, String(version))),
        (reply) => reply === 1
      )
  })
}
