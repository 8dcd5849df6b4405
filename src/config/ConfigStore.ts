/**
 * The configuration in force. Reading is synchronous and cheap: the current snapshot is replaced whole when a newer one has
 * been validated; a document that does not validate replaces nothing.
 */
import { Context } from "effect"
import type { Effect, Stream } from "effect"
import type { Snapshot } from "./Snapshot.ts"

export class ConfigStore extends Context.Service<
  ConfigStore,
  {
    readonly current: () => Snapshot
    /** The snapshot with this hash, or the current one when it is no longer held (after a restart). */
    readonly pinned: (hash: string) => Snapshot
    /** Reads the sources again; a bad document leaves the current snapshot in place and is reported. */
    readonly reload: Effect.Effect<"unchanged" | "replaced" | "refused">
    /** Each snapshot that replaces another. */
    readonly changes: Stream.Stream<Snapshot>
  }
>()("aicr/config/ConfigStore") {}
