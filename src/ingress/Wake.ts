/**
 * What the ingress tells the actors once a fact is stored. Fire and forget: a call may be lost, because whoever should have
 * heard finds the fact in the stores by itself; so nothing here waits, fails or throws.
 */
import { Context } from "effect"
import type { Change } from "../domain/Change.ts"

/** A comment command other than `review`. The writer's permission at the host is still to be asked for. */
export interface CommandRequest {
  readonly eventId: string
  readonly command: "help" | "cancel"
  /** The pull request of the comment; `requestedBy` is its writer. */
  readonly change: Change
}

export class Wake extends Context.Service<
  Wake,
  {
    /** Entries of this workspace were added or cancelled. */
    readonly workspace: (id: string) => void
    /** Another head of the target was queued: a review of the one before may run. */
    readonly newerHead: (targetKey: string, head: string) => void
    /** The pull request was closed or merged: what waited is cancelled, what runs may stop. */
    readonly closed: (workspace: string, targetKey: string) => void
    readonly command: (request: CommandRequest) => void
    /** An app installation changed: cached credentials of these triggers are out of date. */
    readonly installationChanged: (triggers: ReadonlyArray<string>) => void
  }
>()("aicr/ingress/Wake") {}
