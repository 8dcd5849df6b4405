/** Groups the actors of a node by role. */
import { Layer } from "effect"
import { ChatClients } from "../src/chat/ChatClients.ts"
import { Operations } from "../src/queue/operator/Operations.ts"
import * as AnnounceKey from "./publishing/AnnounceKey.ts"
import * as BatchKeeper from "./scheduling/BatchKeeper.ts"
import * as CatchUp from "./catchup/CatchUp.ts"
import * as ChangePublisher from "./publishing/ChangePublisher.ts"
import * as ChatConnection from "./chat/ChatConnection.ts"
import * as ChatKeeper from "./chat/ChatKeeper.ts"
import * as DepotRouting from "./depots/DepotRouting.ts"
import * as Housekeeping from "./upkeep/Housekeeping.ts"
import * as Inventory from "./catchup/Inventory.ts"
import * as NoticeScan from "./notices/NoticeScan.ts"
import * as NoticeSender from "./notices/NoticeSender.ts"
import * as OutcomeSettler from "./outcomes/OutcomeSettler.ts"
import * as ProviderLimiter from "./limits/ProviderLimiter.ts"
import * as ResumeWatch from "./scheduling/ResumeWatch.ts"
import * as ReviewExecutor from "./review/ReviewExecutor.ts"
import * as SwarmComments from "./conversation/SwarmComments.ts"
import * as Schedules from "./scheduling/Schedules.ts"
import * as WorkspaceScheduler from "./scheduling/WorkspaceScheduler.ts"
import * as WritePacer from "./limits/WritePacer.ts"

/** Actors of role `actors`: singletons of the cluster and those that make decisions. */
export const deciding = Layer.mergeAll(WorkspaceScheduler.layer, ProviderLimiter.layer).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Housekeeping.layer,
      Schedules.layer,
      DepotRouting.layer,
      BatchKeeper.layer,
      ResumeWatch.layer,
      NoticeScan.layer,
      CatchUp.depotsLayer
    )
  )
)

/** Actors of role `publisher`: those that write to hosts. */
export const publishing = Layer.mergeAll(
  AnnounceKey.layer,
  ChangePublisher.layer,
  WritePacer.layer,
  NoticeSender.layer,
  CatchUp.hostsLayer,
  Inventory.layer,
  SwarmComments.layer
)

/** Actors of role `chat`: those that own connections to chat platforms. */
export const chatting = ChatConnection.layer.pipe(
  Layer.provide([Operations.layer, ChatClients.layer]),
  Layer.provideMerge(ChatKeeper.layer)
)

/** Actors of role `executor`: those that run reviews, and decide what became of their findings. */
export const executing = Layer.merge(ReviewExecutor.layer, OutcomeSettler.layer)

/** All actors, for a node with all roles. The executor stops first, so that what it finishes while stopping is still published. */
export const layerAll = executing.pipe(
  Layer.provideMerge(chatting),
  Layer.provideMerge(publishing),
  Layer.provideMerge(deciding)
)
