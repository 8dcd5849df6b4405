/** Messages from the ingress to the actors. Wiring only. */
import { Effect, Layer } from "effect"
import { publishers } from "../../actors/publishing/ChangePublisher.ts"
import { ChatConnection } from "../../actors/chat/ChatConnection.ts"
import { NewReports } from "../../actors/depots/NewReports.ts"
import { WorkspaceScheduler } from "../../actors/scheduling/WorkspaceScheduler.ts"
import { targetKey } from "../domain/Change.ts"
import { Forges } from "../forge/Forges.ts"
import { StoredFacts } from "../ingress/StoredFacts.ts"
import type { StoredFact } from "../ingress/StoredFacts.ts"
import { NewerHeads } from "../queue/dispatch/NewerHeads.ts"

/** One message for each stored fact. */
export const publishToActors = Layer.effect(
  StoredFacts,
  Effect.gen(function* () {
    const schedulerOf = yield* WorkspaceScheduler.client
    const connectionOf = yield* ChatConnection.client
    const publisherOf = yield* publishers
    const forges = yield* Forges
    const newerHeads = yield* NewerHeads
    const newReports = yield* NewReports
    const run = Effect.runForkWith(yield* Effect.context())
    const discard = { discard: true } as const
    const send = (fact: StoredFact): Effect.Effect<void, { readonly _tag: string }> => {
      switch (fact._tag) {
        case "EntriesChanged":
          return schedulerOf(fact.workspace).Wake(undefined, discard)
        case "HeadQueued":
          return newerHeads.notify(fact.targetKey, fact.head)
        case "UnreviewedQueued":
          return publisherOf(fact.targetKey).Unreviewed({ entryId: fact.entryId }, discard)
        case "TargetClosed": {
          const { reason, targetKey: closed, workspace } = fact
          return schedulerOf(workspace).Cancel({ targetKey: closed, reason }, discard)
        }
        case "SubmitReported":
          return Effect.sync(newReports.notify)
        case "CommentCommanded": {
          const { change, eventId } = fact.request
          return publisherOf(targetKey(change)).Command({ eventId }, discard)
        }
        case "ChatReceived":
          return connectionOf(fact.connection).Wake(undefined, discard)
        case "DirectoryChanged":
          return connectionOf(fact.connection).ForgetDirectory(undefined, discard)
        case "InstallationChanged":
          return Effect.sync(() => forges.forget(fact.triggers))
      }
    }
    return StoredFacts.of({ publish: (fact) => void run(Effect.ignore(send(fact), { log: "Debug" })) })
  })
)
