/**
 * Dismisses a finding for a person of a chat platform. `review.dismissal` decides as for people at the host: with `maintainers`, the account
 * of the person may write to the repository. The account is that of the person in a member file, or in `user_mappings`, of the channels of
 * the workspace. The author of the change never dismisses its findings. The dismissal is written to the comments and issues of the finding
 * at the host, which later reviews read.
 */
import { Effect } from "effect"
import type { MemberFiles } from "../../chat/members/MemberFiles.ts"
import type { Channel as ChannelConfig } from "../../config/schema/Outputs.ts"
import type { ChatConnection } from "../../config/schema/Im.ts"
import type { Workspace } from "../../config/Snapshot.ts"
import { hostTrigger } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { ChatPrincipal } from "../../domain/ChatRequest.ts"
import type { ForgeClient } from "../../forge/Forge.ts"
import { findDismissers } from "./Dismissal.ts"

/** `no_account`: no account at the host is known. `not_published`: nothing at the host has the finding. */
export type DismissOutcome = "dismissed" | "not_permitted" | "no_account" | "own_change" | "not_published"

interface ChatDismisser {
  readonly person: ChatPrincipal
  readonly connectionId: string
  readonly connection: ChatConnection
}

export interface ChatDismissal extends ChatDismisser {
  readonly fp: string
  readonly head: string
}

const fold = (name: string): string => name.toLowerCase()

/** Returns whether a directory lists the people of this connection. Equal ids of different scopes are different people. */
const isOfConnection = (
  { identity_scope: scope }: NonNullable<ChannelConfig["member_directory"]>,
  { app_id: app, corp_id: corp, tenant_key: tenant }: ChatConnection
): boolean => {
  const ids = { feishu_app: app, feishu_tenant: tenant, wecom_corp: corp }
  return scope !== undefined && ids[scope.kind] === scope.id
}

const isSameApp = (channel: ChannelConfig, { connection, connectionId }: ChatDismisser): boolean =>
  channel.kind === "feishu_app" &&
  (channel.connection === connectionId || (channel.app_id !== undefined && channel.app_id === connection.app_id))

/** Returns the accounts of a person at the host of a change. */
const findAccounts = Effect.fnUntraced(function* (
  members: MemberFiles["Service"],
  workspace: Workspace,
  change: Change,
  dismisser: ChatDismisser
) {
  const { person } = dismisser
  const trigger = hostTrigger(change)
  const { baseDir } = workspace.snapshot()
  const accounts = new Set<string>()
  for (const channel of workspace.outputs.channels) {
    const directory = channel.member_directory
    if (isSameApp(channel, dismisser))
      for (const [identifier, id] of Object.entries(channel.user_mappings ?? {}))
        if (id === person.id && person.type === "feishu_open_id" && !identifier.includes("@")) accounts.add(identifier)
    if (directory?.source !== "file" || !isOfConnection(directory, dismisser.connection)) continue
    const listed = (yield* members.get(baseDir, directory))?.members ?? []
    for (const { accounts: own, mention } of listed)
      if (mention.type === person.type && mention.id === person.id)
        for (const { provider, sourceTrigger, username } of own)
          if (provider === change.provider && (sourceTrigger ?? trigger) === trigger) accounts.add(username)
  }
  return [...accounts]
})

type Dismisser =
  | { readonly _tag: "Permitted"; readonly by: string }
  | { readonly _tag: "Refused"; readonly outcome: DismissOutcome }

const refused = (outcome: DismissOutcome): Dismisser => ({ _tag: "Refused", outcome })

/** Decides whether the person may dismiss findings of this change. */
export const findDismisser = Effect.fnUntraced(function* (
  client: ForgeClient,
  members: MemberFiles["Service"],
  workspace: Workspace,
  change: Change,
  dismisser: ChatDismisser
) {
  const { number } = change.target
  if (number === undefined) return refused("not_published")
  const accounts = yield* findAccounts(members, workspace, change, dismisser)
  const { author } = yield* client.pull(change.repo, number)
  const own = author === undefined ? undefined : fold(author.username)
  if (accounts.some((account) => fold(account) === own)) return refused("own_change")
  const { dismissal } = workspace.review
  const [first] = accounts
  if (first === undefined && dismissal === "maintainers") return refused("no_account")
  const mayDismiss = yield* findDismissers(client, change, dismissal, accounts)
  const by = first === undefined ? dismisser.person.id : accounts.find(mayDismiss)
  return by === undefined ? refused("not_permitted") : ({ _tag: "Permitted", by } satisfies Dismisser)
})
