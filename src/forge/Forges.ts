/** Where the rest of the service finds hosts: by kind for webhooks, by trigger for what is read and written. */
import { Context, Layer } from "effect"
import { ForgeKind } from "../domain/Kinds.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { Forge, ForgeClient } from "./Forge.ts"
import { forgeTable } from "./ForgeTable.ts"

export class Forges extends Context.Service<
  Forges,
  {
    readonly of: (kind: ForgeKind) => Forge
    /** Clients are cached per trigger profile; all writes with one token are paced together. Dies for a kind that is no git host. */
    readonly client: (profile: TriggerProfile) => ForgeClient
    /** Drops the clients of these triggers with the short-lived tokens they hold. */
    readonly forget: (triggers: ReadonlyArray<string>) => void
  }
>()("aicr/forge/Forges") {
  static readonly layer = Layer.sync(this, () => {
    // By profile: work of several configurations, each with a profile of the same name, goes on at once.
    const clients = new Map<string, WeakMap<TriggerProfile, ForgeClient>>()
    return {
      of: (kind) => forgeTable[kind],
      client: (profile) => {
        const named = clients.get(profile.name) ?? new WeakMap<TriggerProfile, ForgeClient>()
        clients.set(profile.name, named)
        const known = named.get(profile)
        if (known !== undefined) return known
        const client = forgeTable[forgeKindOf(profile)].client(profile)
        named.set(profile, client)
        return client
      },
      forget: (triggers) => triggers.forEach((name) => clients.delete(name))
    }
  })
}

const forgeKindOf = ({ kind, name }: TriggerProfile): ForgeKind => {
  const found = ForgeKind.literals.find((known) => known === kind)
  if (found === undefined) throw new Error(`trigger ${name} is of kind ${kind}, which has no host to write to`)
  return found
}
