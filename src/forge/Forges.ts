/** Registry of git hosts for the rest of the service: by kind for webhooks, by trigger for clients. */
import { Context, Effect, Layer } from "effect"
import { ForgeKind } from "../domain/Kinds.ts"
import type { TriggerProfile } from "../config/Snapshot.ts"
import type { Forge, ForgeClient } from "./Forge.ts"
import { HostTraffic } from "./HostTraffic.ts"
import { forgeTable } from "./hosts/ForgeTable.ts"

export class Forges extends Context.Service<
  Forges,
  {
    readonly of: (kind: ForgeKind) => Forge
    /**
     * Clients are cached per trigger profile; all writes with one token are paced together. Dies for a kind that is not a git
     * host.
     */
    readonly client: (profile: TriggerProfile) => ForgeClient
    /** Drops the clients of these triggers together with their short-lived tokens. */
    readonly forget: (triggers: ReadonlyArray<string>) => void
  }
>()("aicr/forge/Forges") {
  static readonly layer = Layer.effect(
    this,
    Effect.map(HostTraffic, (traffic) => {
      // Keyed by profile: reviews of several configurations, each with a profile of the same name, run at the same time.
      const clients = new Map<string, WeakMap<TriggerProfile, ForgeClient>>()
      return {
        of: (kind) => forgeTable[kind],
        client: (profile) => {
          const byProfile = clients.get(profile.name) ?? new WeakMap<TriggerProfile, ForgeClient>()
          clients.set(profile.name, byProfile)
          const existing = byProfile.get(profile)
          if (existing !== undefined) return existing
          const client = forgeTable[toForgeKind(profile)].client(profile, traffic)
          byProfile.set(profile, client)
          return client
        },
        forget: (triggers) => triggers.forEach((name) => clients.delete(name))
      }
    })
  ).pipe(Layer.provideMerge(HostTraffic.layer))
}

const toForgeKind = ({ kind, name }: TriggerProfile): ForgeKind => {
  const forgeKind = ForgeKind.literals.find((literal) => literal === kind)
  if (forgeKind === undefined) throw new Error(`trigger ${name} is of kind ${kind}, which has no host to write to`)
  return forgeKind
}
