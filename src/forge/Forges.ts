/** Where the rest of the service finds hosts: by kind for webhooks, by trigger for what is read and written. */
import { Context } from "effect"
import type { ForgeKind } from "../domain/Kinds.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { Forge, ForgeClient } from "./Forge.ts"

export class Forges extends Context.Service<
  Forges,
  {
    readonly of: (kind: ForgeKind) => Forge
    /** Clients are cached per trigger profile; all writes with one token are paced together. */
    readonly client: (profile: TriggerProfile) => ForgeClient
  }
>()("aicr/forge/Forges") {}
