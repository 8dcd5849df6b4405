/**
 * Publishes facts to the actors after they are stored. A notification may be lost, because every receiver also finds the fact in the
 * stores; so nothing here waits, fails or throws.
 */
import { Context, Layer } from "effect"
import type { Change } from "../domain/Change.ts"
import type { Command } from "../domain/CommentCommand.ts"
import type { TargetKey } from "../domain/Keys.ts"
import type { Reason } from "../domain/Reason.ts"

/** A comment command. The writer's permission at the host is not checked yet. */
export interface StoredCommand {
  readonly eventId: string
  readonly command: Command["name"]
  /** The pull request of the comment; `requestedBy` is its writer. */
  readonly change: Change
}

export type StoredFact =
  /** Entries of this workspace were added or cancelled. */
  | { readonly _tag: "EntriesChanged"; readonly workspace: string }
  /** Another head of the target was queued: a review of the previous one may run. */
  | { readonly _tag: "HeadQueued"; readonly targetKey: TargetKey; readonly head: string }
  /** An entry was queued whose head was reviewed for other pull requests or base branches only. */
  | { readonly _tag: "UnreviewedQueued"; readonly targetKey: TargetKey; readonly entryId: string }
  /** The pull request was closed or merged: waiting entries are cancelled, running reviews may stop. */
  | {
      readonly _tag: "TargetClosed"
      readonly workspace: string
      readonly targetKey: TargetKey
      readonly reason: Reason
    }
  /** A report of a submitted change was stored. */
  | { readonly _tag: "SubmitReported" }
  | { readonly _tag: "CommentCommanded"; readonly request: StoredCommand }
  /** A message of this chat connection was stored. */
  | { readonly _tag: "ChatReceived"; readonly connection: string }
  /** The platform of this chat connection reported a change of members or departments. */
  | { readonly _tag: "DirectoryChanged"; readonly connection: string }
  /** An app installation changed: cached credentials of these triggers are outdated. */
  | { readonly _tag: "InstallationChanged"; readonly triggers: ReadonlyArray<string> }

export class StoredFacts extends Context.Service<StoredFacts, { readonly publish: (fact: StoredFact) => void }>()(
  "aicr/ingress/StoredFacts"
) {
  /** Publishes nothing, for a deployment without actors: the node that starts next finds the facts in the stores. */
  static readonly layerUnpublished = Layer.succeed(StoredFacts, StoredFacts.of({ publish: () => {} }))
}
