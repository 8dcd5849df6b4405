/** Wires the record store: a migrated database and the repositories over it. */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { AdminActions } from "./AdminActions.ts"
import type { AdminSessions } from "./AdminSessions.ts"
import type { AgentPasses } from "./AgentPasses.ts"
import type { Batches } from "./Batches.ts"
import type { ChatHealths } from "./ChatHealths.ts"
import type { ChatOwners } from "./ChatOwners.ts"
import type { ChatRequests } from "./ChatRequests.ts"
import type { ChatSends } from "./ChatSends.ts"
import type { Configurations } from "./Configurations.ts"
import type { Heartbeats } from "./Heartbeats.ts"
import type { Ledger } from "./Ledger.ts"
import type { Lessons } from "./Lessons.ts"
import type { LoginAttempts } from "./LoginAttempts.ts"
import * as Migrations from "./Migrations.ts"
import type { Notices } from "./Notices.ts"
import type { Outbox } from "./Outbox.ts"
import type { Outcomes } from "./Outcomes.ts"
import type { Payloads } from "./Payloads.ts"
import type { PullBases } from "./PullBases.ts"
import type { Receipts } from "./Receipts.ts"
import type { RejectedSignatures } from "./RejectedSignatures.ts"
import type { RunLogs } from "./RunLogs.ts"
import type { Runs } from "./Runs.ts"
import type { Schedules } from "./Schedules.ts"
import * as SqlAdminActions from "./SqlAdminActions.ts"
import * as SqlAdminSessions from "./SqlAdminSessions.ts"
import * as SqlAgentPasses from "./SqlAgentPasses.ts"
import * as SqlBatches from "./SqlBatches.ts"
import * as SqlChatHealths from "./SqlChatHealths.ts"
import * as SqlChatOwners from "./SqlChatOwners.ts"
import * as SqlChatRequests from "./SqlChatRequests.ts"
import * as SqlChatSends from "./SqlChatSends.ts"
import * as SqlConfigurations from "./SqlConfigurations.ts"
import * as SqlHeartbeats from "./SqlHeartbeats.ts"
import * as SqlLedger from "./SqlLedger.ts"
import * as SqlLessons from "./SqlLessons.ts"
import * as SqlLoginAttempts from "./SqlLoginAttempts.ts"
import * as SqlNotices from "./SqlNotices.ts"
import * as SqlOutbox from "./SqlOutbox.ts"
import * as SqlOutcomes from "./SqlOutcomes.ts"
import * as SqlPayloads from "./SqlPayloads.ts"
import * as SqlPullBases from "./SqlPullBases.ts"
import * as SqlReceipts from "./SqlReceipts.ts"
import * as SqlRejectedSignatures from "./SqlRejectedSignatures.ts"
import * as SqlRunLogs from "./SqlRunLogs.ts"
import * as SqlRuns from "./SqlRuns.ts"
import * as SqlSchedules from "./SqlSchedules.ts"
import * as SqlStatistics from "./SqlStatistics.ts"
import type { Statistics } from "./Statistics.ts"
import * as SqliteClient from "../database/SqliteClient.ts"
import type { StoreError } from "../database/StoreError.ts"

export type Records =
  | AgentPasses
  | Receipts
  | RejectedSignatures
  | Payloads
  | PullBases
  | RunLogs
  | Runs
  | Notices
  | Outbox
  | Outcomes
  | Batches
  | ChatHealths
  | ChatOwners
  | ChatRequests
  | ChatSends
  | Configurations
  | Schedules
  | Heartbeats
  | Ledger
  | AdminActions
  | AdminSessions
  | LoginAttempts
  | Lessons
  | Statistics

/** The repositories over any SqlClient. */
export const layer = (migrate: "auto" | "verify"): Layer.Layer<Records, StoreError, SqlClient.SqlClient> =>
  Layer.mergeAll(
    SqlAgentPasses.layer,
    SqlReceipts.layer,
    SqlRejectedSignatures.layer,
    SqlPayloads.layer,
    SqlPullBases.layer,
    SqlRunLogs.layer,
    SqlRuns.layer,
    SqlNotices.layer,
    SqlOutbox.layer,
    SqlOutcomes.layer,
    SqlBatches.layer,
    SqlChatHealths.layer,
    SqlChatOwners.layer,
    SqlChatRequests.layer,
    SqlChatSends.layer,
    SqlConfigurations.layer,
    SqlSchedules.layer,
    SqlHeartbeats.layer,
    SqlLedger.layer,
    SqlLessons.layer,
    SqlStatistics.layer,
    SqlAdminActions.layer,
    SqlAdminSessions.layer,
    SqlLoginAttempts.layer
  ).pipe(Layer.provide(Migrations.layer(migrate)))

/** Stores records in one SQLite file. */
export const layerSqlite = (options: {
  readonly path: string
  readonly migrate: "auto" | "verify"
}): Layer.Layer<Records | SqlClient.SqlClient, StoreError> =>
  Layer.provideMerge(layer(options.migrate), SqliteClient.layer({ path: options.path }))

/** Keeps records in memory, for tests. */
export const layerMemory: Layer.Layer<Records | SqlClient.SqlClient, StoreError> = layerSqlite({
  path: ":memory:",
  migrate: "auto"
})
