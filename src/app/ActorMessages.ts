/** Messages from the ingress to the actors. Wiring only. */
import { Effect, Layer } from "effect"
import { publishers } from "../../actors/publishing/ChangePublisher.ts"
import { ChatConnection } from "../../actors/chat/ChatConnection.ts"
import { NewReports } from "../../actors/depots/NewReports.ts"
import { WorkspaceScheduler } from "../../actors/scheduling/WorkspaceScheduler.ts"
import { targetKey } from "../domain/Change.ts"
import { Forges } from "../forge/Forges.ts"
import { Wake } from "../ingress/Wake.ts"
import { NewerHeads } from "../queue/dispatch/NewerHeads.ts"

export const wakeActors = Layer.effect(
  Wake,
  Effect.gen(function* () {
    const schedulerOf = yield* WorkspaceScheduler.client
    const connectionOf = yield* ChatConnection.client
    const publisherOf = yield* publishers
    const forges = yield* Forges
    const newerHeads = yield* NewerHeads
    const newReports = yield* NewReports
    const run = Effect.runForkWith(yield* Effect.context())
    const send = (message: Effect.Effect<void, { readonly _tag: string }>): void => {
      run(Effect.ignore(message, { log: "Debug" }))
    }
    return Wake.of({
      workspace: (id) => send(schedulerOf(id).Wake(undefined, { discard: true })),
      newerHead: (target, head) => send(newerHeads.notify(target, head)),
      unreviewed: (target, entryId) => send(publisherOf(target).Unreviewed({ entryId }, { discard: true })),
      closed: (workspace, target) =>
        send(
          schedulerOf(workspace).Cancel({ targetKey: target, reason: { _tag: "PullRequestClosed" } }, { discard: true })
        ),
      reported: newReports.notify,
      command: ({ eventId, change }) => send(publisherOf(targetKey(change)).Command({ eventId }, { discard: true })),
      chat: (connection) => send(connectionOf(connection).Wake(undefined, { discard: true })),
      directoryChanged: (connection) => send(connectionOf(connection).ForgetDirectory(undefined, { discard: true })),
      installationChanged: (triggers) => forges.forget(triggers)
    })
  })
)

/** Replaces `Wake` on a deployment without actors: the stores notify the node that starts next. */
export const noopNotifications = Layer.succeed(
  Wake,
  Wake.of({
    workspace: () => {},
    newerHead: () => {},
    unreviewed: () => {},
    closed: () => {},
    reported: () => {},
    command: () => {},
    chat: () => {},
    directoryChanged: () => {},
    installationChanged: () => {}
  })
)
