/**
 * The stores of the database source in Redis. Each write is one script or transaction, so that a revision and the result of its operation are
 * written together. All keys of a namespace have one hash tag.
 */
import { Context, Effect, Layer } from "effect"
import type { Redacted } from "effect"
import { operationLimits, RevisionStore } from "../../config/revisions/RevisionStore.ts"
import type { OperationLimits } from "../../config/revisions/RevisionStore.ts"
import { ActivationStore } from "../../config/revisions/ActivationStore.ts"
import type { AuditLimits } from "../../config/revisions/AuditLog.ts"
import { AuditLog, auditLimits } from "../../config/revisions/AuditLog.ts"
import {
  DraftStore,
  maxDrafts,
  maxDraftsPerOwner,
  maxOwnerBytes,
  maxTotalBytes
} from "../../config/revisions/DraftStore.ts"
import { ResealStore } from "../../config/revisions/ResealStore.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { connect, texts } from "./RedisCall.ts"
import { makeRevisions } from "./RedisRevisions.ts"
import type { SourceStores } from "./SqlSource.ts"
import { parseReseal, parseDraft, parseActivation, parseAudit } from "../../config/revisions/StoredRecords.ts"
import type { SourceCall } from "./RedisCall.ts"
import { parsed } from "./StoredText.ts"
import { oncePer } from "../../database/sql/OncePer.ts"

/** Records that are removed together. */
const chunk = 1000

/** Stores audit records and activations of nodes in Redis. */
const makeAudit = (call: SourceCall, base: string, { records: maximum, surplus }: AuditLimits): AuditLog["Service"] => {
  const [ids, records, ages] = [`${base}audit-ids`, `${base}audit`, `${base}audit-ages`]
  const remove = (found: ReadonlyArray<string>) =>
    found.length === 0
      ? Effect.void
      : Effect.asVoid(
          call("audit.prune", (client) =>
            client
              .multi()
              .zrem(ids, ...found)
              .zrem(ages, ...found)
              .hdel(records, ...found)
              .exec()
          )
        )
  const removeOldest = Effect.gen(function* () {
    const count = yield* call("audit.prune", (client) => client.zcard(ids))
    for (let excess = count - maximum; excess > 0; excess -= chunk)
      yield* remove(yield* call("audit.prune", (client) => client.zrange(ids, 0, String(Math.min(chunk, excess) - 1))))
  })
  const trim = oncePer(surplus, removeOldest)
  return AuditLog.of({
    append: (record) =>
      Effect.andThen(
        call("audit.append", (client) =>
          client
            .multi()
            .hset(records, record.id, JSON.stringify(record))
            .zadd(ids, 0, record.id)
            .zadd(ages, record.at, record.id)
            .exec()
        ),
        trim
      ),
    list: Effect.fnUntraced(function* ({ before, limit }) {
      const highest = before === undefined ? "+" : `(${before}`
      const found = yield* call("audit.list", (client) =>
        client.zrevrangebylex(ids, highest, "-", "LIMIT", 0, limit + 1)
      )
      const shown = found.slice(0, limit)
      const stored = shown.length === 0 ? [] : yield* call("audit.list", (client) => client.hmget(records, ...shown))
      const items = yield* Effect.forEach(
        stored.flatMap((text) => (text === null ? [] : [text])),
        (text) => parsed("audit.list", parseAudit(text))
      )
      return { items, next: found.length > limit ? shown.at(-1) : undefined }
    }),
    prune: Effect.fnUntraced(function* (since) {
      const old = yield* call("audit.prune", (client) =>
        client.zrangebyscore(ages, "-inf", `(${since}`, "LIMIT", 0, 10_000)
      )
      yield* remove(old)
      yield* removeOldest
    })
  })
}

const makeActivations = (call: SourceCall, base: string): ActivationStore["Service"] => {
  const key = `${base}activations`
  const all = Effect.flatMap(
    call("activations.list", (client) => client.hvals(key)),
    (stored) => Effect.forEach(stored, (text) => parsed("activations.list", parseActivation(text)))
  )
  return ActivationStore.of({
    report: (activation) =>
      Effect.asVoid(
        call("activations.report", (client) => client.hset(key, activation.node, JSON.stringify(activation)))
      ),
    list: (since) =>
      Effect.map(all, (found) =>
        found.filter(({ at }) => at >= since).toSorted((left, right) => (left.node < right.node ? -1 : 1))
      ),
    prune: (since) =>
      Effect.flatMap(all, (found) => {
        const old = found.filter(({ at }) => at < since).map(({ node }) => node)
        return old.length === 0
          ? Effect.void
          : Effect.asVoid(call("activations.prune", (client) => client.hdel(key, ...old)))
      })
  })
}

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

/** Stores drafts in Redis. */
const makeDrafts = (call: SourceCall, base: string): DraftStore["Service"] => {
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

/** KEYS: job. ARGV: version, job. */
const saveScript = `
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
if version ~= tonumber(ARGV[1]) - 1 then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[1], 'job', ARGV[2])
return 1`

/** Stores the sealing of credentials in Redis. */
const makeReseals = (call: SourceCall, base: string): ResealStore["Service"] => {
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

interface RedisSourceOptions {
  readonly url: Redacted.Redacted
  readonly namespace: string
  /** Prefix of the keys; services that share a Redis have one each. `aicr` by default. */
  readonly prefix?: string | undefined
  readonly audit?: AuditLimits | undefined
  readonly operations?: OperationLimits | undefined
}

export const layerRedis = ({
  audit = auditLimits,
  namespace,
  operations = operationLimits,
  prefix = "aicr",
  url
}: RedisSourceOptions): Layer.Layer<SourceStores, StoreError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const call = yield* connect(url)
      const base = `{${prefix}:config:${namespace}}:`
      return Context.make(RevisionStore, makeRevisions(call, base, operations)).pipe(
        Context.add(DraftStore, makeDrafts(call, base)),
        Context.add(AuditLog, makeAudit(call, base, audit)),
        Context.add(ActivationStore, makeActivations(call, base)),
        Context.add(ResealStore, makeReseals(call, base))
      )
    })
  )
