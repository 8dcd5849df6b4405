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
    const clients = new Map<string, { readonly profile: TriggerProfile; readonly client: ForgeClient }>()
    return {
      of: (kind) => forgeTable[kind],
      client: (profile) => {
        const known = clients.get(profile.name)
        // Another configuration snapshot has another profile under the same name.
        if (known?.profile === profile) return known.client
        const client = forgeTable[forgeKindOf(profile)].client(profile)
        clients.set(profile.name, { profile, client })
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
