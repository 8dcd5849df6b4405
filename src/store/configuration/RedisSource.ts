/**
 * The stores of the database source in Redis. Each write is one script or transaction, so that a revision and the result of its operation are
 * written together. All keys of a namespace have one hash tag.
 */
import { Context, Effect, Layer } from "effect"
import type { Redacted } from "effect"
import { operationLimits } from "../../config/revisions/RevisionStore.ts"
import type { OperationLimits } from "../../config/revisions/RevisionStore.ts"
import { ActivationStore } from "../../config/revisions/ActivationStore.ts"
import type { AuditLimits } from "../../config/revisions/AuditLog.ts"
import { AuditLog, auditLimits } from "../../config/revisions/AuditLog.ts"
import { DraftStore } from "../../config/revisions/DraftStore.ts"
import { ResealStore } from "../../config/revisions/ResealStore.ts"
import { RevisionStore } from "../../config/revisions/RevisionStore.ts"
import type { StoreError } from "../../database/StoreError.ts"
import { makeActivations, makeAudit } from "./RedisAudit.ts"
import { connect } from "./RedisCall.ts"
import { makeDrafts } from "./RedisDrafts.ts"
import { makeReseals } from "./RedisReseals.ts"
import { makeRevisions } from "./RedisRevisions.ts"
import type { SourceStores } from "./SqlSource.ts"

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
