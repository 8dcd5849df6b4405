/**
 * Contract of a host's webhooks: those of a repository, and the wider ones of an owner, the site or the app, which serve many repositories. Used
 * by the inventory (actors/catchup/Inventory.ts), `aicr setup` and `aicr doctor`.
 */
import type { Effect, Redacted } from "effect"
import type { Repo } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import type { Writing } from "../WriteOwner.ts"
import type { HostOwner } from "./HostChanges.ts"

export type HookScope =
  | { readonly _tag: "Repository"; readonly fullName: string }
  /** An organisation or a group. */
  | { readonly _tag: "Owner"; readonly name: string }
  /** The site, or the app. */
  | { readonly _tag: "Host" }

/** A webhook as the API of the host lists it. */
export interface HostHook {
  /** Id at the host, unique in its scope. */
  readonly id: string
  /** May contain credentials. */
  readonly url: string
  readonly isActive: boolean
  readonly events: ReadonlyArray<string>
  /** Undefined where the host sends only JSON. */
  readonly contentType: string | undefined
  /** Settings of people that an update returns to the host, because it would reset them. */
  readonly kept: Readonly<Record<string, string>>
}

export interface HookDelivery {
  /** Status of the response; undefined if there was none. */
  readonly status: number | undefined
  readonly at: string | undefined
}

/** Content of a webhook that the service writes. */
export interface HookContent {
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly secret: Redacted.Redacted | undefined
}

export interface OwnedRepository {
  readonly repo: Repo
  /** An archived repository takes neither changes nor webhooks. */
  readonly isArchived: boolean
}

export interface HostHooks {
  /** True if the webhook of an app serves every repository: then repositories and owners have none. */
  readonly isApp: boolean
  /** Scopes whose webhooks serve the repositories of an owner, the widest first. */
  readonly wider: (owner: string) => ReadonlyArray<HookScope>
  /** Reads all pages. */
  readonly list: (scope: HookScope) => Effect.Effect<ReadonlyArray<HostHook>, ForgeError>
  /** Latest deliveries of a webhook, newest first, at most `loggedDeliveries`; empty where the host has no log. */
  readonly deliveries: (scope: HookScope, id: string) => Effect.Effect<ReadonlyArray<HookDelivery>, ForgeError>
  /** Creates a webhook and returns its id. */
  readonly create: (scope: HookScope, content: HookContent) => Effect.Effect<string, ForgeError, Writing>
  /** Writes URL, events, content type and secret, and activates the webhook. Its other settings stay. */
  readonly update: (scope: HookScope, hook: HostHook, content: HookContent) => Effect.Effect<void, ForgeError, Writing>
  /** Repositories of an owner that the credential sees. */
  readonly repositories: (owner: HostOwner) => Effect.Effect<ReadonlyArray<OwnedRepository>, ForgeError>
  /** Returns a text that changes when the owner gets a repository, in one request. */
  readonly newest: (owner: HostOwner) => Effect.Effect<string, ForgeError>
}

/** Deliveries of the log that are considered. */
export const loggedDeliveries = 10
/** Most repositories of an owner that are read. */
export const maxOwnedRepositories = 10_000
