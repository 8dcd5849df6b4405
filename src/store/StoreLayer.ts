/** Wires the record store: a migrated database and the repositories over it. */
import { Layer } from "effect"
import type { SqlClient } from "effect/sql"
import type { AdminActions } from "./AdminActions.ts"
import * as AdminSessions from "./AdminSessions.ts"
import * as AgentPasses from "./AgentPasses.ts"
import type { Batches } from "./Batches.ts"
import * as CatchUps from "./CatchUps.ts"
import * as ChatHealths from "./ChatHealths.ts"
import * as ChatOwners from "./ChatOwners.ts"
import type { ChatRequests } from "./ChatRequests.ts"
import * as ChatSends from "./ChatSends.ts"
import * as DirectOptOuts from "./DirectOptOuts.ts"
import * as Configurations from "./configuration/Configurations.ts"
import * as Heartbeats from "./Heartbeats.ts"
import * as Inventories from "./Inventories.ts"
import type { Ledger } from "./Ledger.ts"
import * as Lessons from "./Lessons.ts"
import * as LoginAttempts from "./LoginAttempts.ts"
import * as Migrations from "./schema/Migrations.ts"
import * as Notices from "./Notices.ts"
import type { Outbox } from "./Outbox.ts"
import type { Outcomes } from "./Outcomes.ts"
import type { Settlements } from "./Settlements.ts"
import type { Payloads } from "./Payloads.ts"
import type { PersonRecords } from "./PersonRecords.ts"
import * as ProjectRules from "./ProjectRules.ts"
import * as PullBases from "./PullBases.ts"
import type { Receipts } from "./Receipts.ts"
import type { RejectedSignatures } from "./RejectedSignatures.ts"
import * as RunLogs from "./RunLogs.ts"
import type { Runs } from "./Runs.ts"
import * as Schedules from "./Schedules.ts"
import * as SavedViews from "./SavedViews.ts"
import * as ServiceTokens from "./ServiceTokens.ts"
import * as SqlAdminActions from "./events/SqlAdminActions.ts"
import * as SqlBatches from "./batches/SqlBatches.ts"
import * as SqlChatRequests from "./events/SqlChatRequests.ts"
import * as SqlLedger from "./runs/SqlLedger.ts"
import * as SqlOutbox from "./publications/SqlOutbox.ts"
import * as SqlOutcomes from "./runs/SqlOutcomes.ts"
import * as SqlSettlements from "./runs/SqlSettlements.ts"
import * as SqlPayloads from "./events/SqlPayloads.ts"
import * as SqlPersonRecords from "./people/SqlPersonRecords.ts"
import * as SqlReceipts from "./events/SqlReceipts.ts"
import * as SqlRejectedSignatures from "./events/SqlRejectedSignatures.ts"
import * as SqlRuns from "./runs/SqlRuns.ts"
import * as SqlStatistics from "./statistics/SqlStatistics.ts"
import type { Statistics } from "./Statistics.ts"
import * as SqliteClient from "../database/sqlite/SqliteClient.ts"
import type { StoreError } from "../database/StoreError.ts"

export type Records =
  | AgentPasses.AgentPasses
  | Receipts
  | RejectedSignatures
  | Payloads
  | PersonRecords
  | ProjectRules.ProjectRules
  | PullBases.PullBases
  | RunLogs.RunLogs
  | Runs
  | Notices.Notices
  | Outbox
  | Outcomes
  | Settlements
  | Batches
  | CatchUps.CatchUps
  | ChatHealths.ChatHealths
  | ChatOwners.ChatOwners
  | ChatRequests
  | ChatSends.ChatSends
  | DirectOptOuts.DirectOptOuts
  | Configurations.Configurations
  | Schedules.Schedules
  | Heartbeats.Heartbeats
  | Inventories.Inventories
  | Ledger
  | AdminActions
  | AdminSessions.AdminSessions
  | LoginAttempts.LoginAttempts
  | SavedViews.SavedViews
  | ServiceTokens.ServiceTokens
  | Lessons.Lessons
  | Statistics

/** The repositories over any SqlClient. */
export const layer = (migrate: "auto" | "verify"): Layer.Layer<Records, StoreError, SqlClient.SqlClient> =>
  Layer.mergeAll(
    AgentPasses.layer,
    SqlReceipts.layer,
    SqlRejectedSignatures.layer,
    SqlPayloads.layer,
    SqlPersonRecords.layer,
    ProjectRules.layer,
    PullBases.layer,
    RunLogs.layer,
    SqlRuns.layer,
    Notices.layer,
    SqlOutbox.layer,
    SqlOutcomes.layer,
    SqlSettlements.layer,
    SqlBatches.layer,
    CatchUps.layer,
    Inventories.layer,
    ChatHealths.layer,
    ChatOwners.layer,
    SqlChatRequests.layer,
    ChatSends.layer,
    DirectOptOuts.layer,
    Configurations.layer,
    Schedules.layer,
    Heartbeats.layer,
    SqlLedger.layer,
    Lessons.layer,
    SqlStatistics.layer,
    SqlAdminActions.layer,
    AdminSessions.layer,
    LoginAttempts.layer,
    SavedViews.layer,
    ServiceTokens.layer
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
