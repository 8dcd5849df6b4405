/**
 * Notifies the actors after a fact is stored. Notifications may be lost, because every receiver also finds the fact in the stores; so
 * nothing here waits, fails or throws.
 */
import { Context } from "effect"
import type { Change } from "../domain/Change.ts"
import type { Command } from "../domain/CommentCommand.ts"
import type { TargetKey } from "../domain/Keys.ts"

/** A comment command. The writer's permission at the host is not checked yet. */
export interface WokenCommand {
  readonly eventId: string
  readonly command: Command["name"]
  /** The pull request of the comment; `requestedBy` is its writer. */
  readonly change: Change
}

export class Wake extends Context.Service<
  Wake,
  {
    /** Entries of this workspace were added or cancelled. */
    readonly workspace: (id: string) => void
    /** Another head of the target was queued: a review of the previous one may run. */
    readonly newerHead: (targetKey: TargetKey, head: string) => void
    /** An entry was queued whose head was reviewed for other pull requests or base branches only. */
    readonly unreviewed: (targetKey: TargetKey, entryId: string) => void
    /** The pull request was closed or merged: waiting entries are cancelled, running reviews may stop. */
    readonly closed: (workspace: string, targetKey: TargetKey) => void
    /** A report of a submitted change was stored. */
    readonly reported: () => void
    readonly command: (request: WokenCommand) => void
    /** A message of this chat connection was stored. */
    readonly chat: (connection: string) => void
    /** The platform of this chat connection reported a change of members or departments. */
    readonly directoryChanged: (connection: string) => void
    /** An app installation changed: cached credentials of these triggers are outdated. */
    readonly installationChanged: (triggers: ReadonlyArray<string>) => void
  }
>()("aicr/ingress/Wake") {}
