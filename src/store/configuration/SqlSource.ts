/** The stores of the database source in the record database. */
import { Context, Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { ActivationStore } from "../../config/revisions/ActivationStore.ts"
import { AuditLog, auditLimits } from "../../config/revisions/AuditLog.ts"
import { DraftStore } from "../../config/revisions/DraftStore.ts"
import { ResealStore } from "../../config/revisions/ResealStore.ts"
import { operationLimits, RevisionStore } from "../../config/revisions/RevisionStore.ts"
import { makeActivations, makeAudit } from "./SqlAudit.ts"
import { makeDrafts } from "./SqlDrafts.ts"
import { makeReseals } from "./SqlReseals.ts"
import { makeRevisions } from "./SqlRevisions.ts"

export type SourceStores = ActivationStore | AuditLog | DraftStore | ResealStore | RevisionStore

export const layerSql = (
  namespace: string,
  audit = auditLimits,
  operations = operationLimits
): Layer.Layer<SourceStores, never, SqlClient.SqlClient> =>
  Layer.effectContext(
    Effect.gen(function* () {
      return Context.make(RevisionStore, yield* makeRevisions(namespace, operations)).pipe(
        Context.add(DraftStore, yield* makeDrafts(namespace)),
        Context.add(AuditLog, yield* makeAudit(namespace, audit)),
        Context.add(ActivationStore, yield* makeActivations(namespace)),
        Context.add(ResealStore, yield* makeReseals(namespace))
      )
    })
  )
