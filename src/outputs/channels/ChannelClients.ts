/** Clients for operations: of the change's host, or of the host and credential that a channel names. */
import { Effect } from "effect"
import type { ConfigStore } from "../../config/ConfigStore.ts"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../../config/Snapshot.ts"
import { hostTrigger } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { Reason } from "../../domain/Reason.ts"
import { haveSameOrigins, hostUrls } from "../../domain/HostUrls.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import { currentProfile } from "../../forge/CurrentProfile.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { Forges } from "../../forge/Forges.ts"
import { isCredentialLost, withLostCredential } from "../../forge/LostCredential.ts"
import { ChannelMissing } from "./Channel.ts"
import { findHostMismatch } from "./ChannelHost.ts"

const unusable = ({ name: channel }: ChannelConfig, why: Reason): ChannelMissing =>
  new ChannelMissing({ why: { _tag: "ChannelUnusable", channel, why } })

const findProfile = (channel: ChannelConfig, change: Change, snapshot: Snapshot) => {
  const name = channel.trigger ?? hostTrigger(change)
  const profile = snapshot.triggers.get(name)
  return profile === undefined
    ? Effect.fail(unusable(channel, { _tag: "TriggerUnconfigured", trigger: name }))
    : Effect.succeed(profile)
}

/**
 * Returns the profile with the channel's host and credential, or what is missing. The trigger's credential is sent
 * to the trigger's own host only.
 */
const ownProfile = (profile: TriggerProfile, channel: ChannelConfig, snapshot: Snapshot): TriggerProfile | Reason => {
  const settings =
    channel.base_url === undefined ? profile.settings : { ...profile.settings, base_url: channel.base_url }
  const urls = channel.base_url === undefined ? profile : hostUrls(profile.kind, channel.base_url)
  const { baseUrl, apiUrl } = urls
  const token = snapshot.credential(channel, "token")
  if (token === undefined) {
    return channel.base_url === undefined || haveSameOrigins(profile, urls)
      ? { ...profile, baseUrl, apiUrl, settings }
      : { _tag: "CredentialOfOtherHost", trigger: profile.name }
  }
  const { app: _app, ...withoutApp } = settings
  return { ...profile, baseUrl, apiUrl, token, settings: withoutApp }
}

/** Returns true for errors with which a host refuses a credential. */
const isRefused = ({ reason }: ForgeError): boolean =>
  reason === "unauthorized" || reason === "forbidden" || reason === "not_found"

/** Workspace and change of an operation, and the kind of its credential. */
interface Execution {
  readonly workspace: Workspace
  readonly change: Change
  /** True if the channel has a credential of its own. */
  readonly hasOwnToken?: boolean
  readonly isStatus?: boolean
}

export class ChannelClients {
  readonly #forges: Forges["Service"]
  readonly #config: ConfigStore["Service"]
  /** Keyed by the inputs of a client: the trigger profile of a snapshot (host and credential) and the channel's overrides. */
  readonly #own = new WeakMap<TriggerProfile, WeakMap<ChannelConfig, ForgeClient>>()

  constructor(forges: Forges["Service"], config: ConfigStore["Service"]) {
    this.#forges = forges
    this.#config = config
  }

  /** Returns the client of the change's host. */
  host(workspace: Workspace, change: Change): Effect.Effect<ForgeClient, ChannelMissing> {
    const name = hostTrigger(change)
    const profile = workspace.snapshot().triggers.get(name)
    return profile === undefined
      ? Effect.fail(new ChannelMissing({ why: { _tag: "TriggerUnconfigured", trigger: name } }))
      : Effect.succeed(this.#forges.client(profile))
  }

  /** Returns the trigger's client, or a separate one where the channel names another host or credential. */
  channel(
    channel: ChannelConfig,
    change: Change,
    snapshot: Snapshot
  ): Effect.Effect<ForgeClient, ForgeError | ChannelMissing> {
    return Effect.flatMap(findProfile(channel, change, snapshot), (profile) => {
      const missing = (why: Reason) => Effect.fail(unusable(channel, why))
      const other = findHostMismatch(channel, change, snapshot.triggers)
      if (other !== undefined) return missing(other)
      if (!isForgeKind(profile.kind)) {
        return missing({ _tag: "NoPullRequests", trigger: profile.name, kind: profile.kind })
      }
      // That of a chat application is the address of its platform.
      const baseUrl = channel.kind === "feishu_app" ? undefined : channel.base_url
      if (channel.token === undefined && channel.token_env === undefined && baseUrl === undefined) {
        return Effect.succeed(this.#forges.client(profile))
      }
      const client = this.#ownClient(profile, channel, snapshot)
      return "_tag" in client ? missing(client) : Effect.succeed(client)
    })
  }

  /**
   * Executes an operation. If the host refuses the credential, it is executed with the current configuration's one for the same host. If
   * that is refused, too, or there is none, the error names the trigger whose credential is lost. A status is also sent with the current one
   * if only its own write is refused, so that it does not remain pending.
   */
  execute<A, R>(
    operate: (client: ForgeClient, isRepeated: boolean) => Effect.Effect<A, ForgeError | ChannelMissing, R>,
    own: Effect.Effect<ForgeClient, ForgeError | ChannelMissing>,
    { change, hasOwnToken = false, isStatus = false, workspace }: Execution
  ): Effect.Effect<A, ForgeError | ChannelMissing, R> {
    const trigger = hostTrigger(change)
    const needsOther = (client: ForgeClient | undefined, error: ForgeError | ChannelMissing) =>
      isStatus && (error._tag === "ChannelMissing" || isRefused(error))
        ? Effect.succeed(true)
        : client === undefined || error._tag === "ChannelMissing"
          ? Effect.succeed(false)
          : isCredentialLost(client, change.repo, error)
    const lost = (client: ForgeClient | undefined, error: ForgeError | ChannelMissing) =>
      error._tag === "ChannelMissing" || client === undefined
        ? Effect.fail(error)
        : Effect.flatMap(isCredentialLost(client, change.repo, error), (isLost) =>
            Effect.fail(isLost ? withLostCredential(error, trigger) : error)
          )
    const again = Effect.fnUntraced(function* (
      this: ChannelClients,
      error: ForgeError | ChannelMissing
    ): Effect.fn.Return<A, ForgeError | ChannelMissing, R> {
      const client = yield* Effect.orElseSucceed(own, () => undefined)
      if (!(yield* needsOther(client, error))) return yield* error
      const profile = workspace.snapshot().triggers.get(trigger)
      const other = hasOwnToken ? undefined : currentProfile(profile, this.#config.current(), trigger)
      if (other === undefined) return yield* lost(client, error)
      const successor = this.#forges.client(other)
      return yield* Effect.catch(operate(successor, true), (failure) => lost(successor, failure))
    }).bind(this)
    return Effect.catch(
      Effect.flatMap(own, (client) => operate(client, false)),
      again
    )
  }

  /** Returns the client, or what is missing. */
  #ownClient(profile: TriggerProfile, channel: ChannelConfig, snapshot: Snapshot): ForgeClient | Reason {
    const ofTrigger = this.#own.get(profile) ?? new WeakMap<ChannelConfig, ForgeClient>()
    this.#own.set(profile, ofTrigger)
    const existing = ofTrigger.get(channel)
    if (existing !== undefined) return existing
    const own = ownProfile(profile, channel, snapshot)
    if ("_tag" in own) return own
    const client = this.#forges.client(own)
    ofTrigger.set(channel, client)
    return client
  }
}
