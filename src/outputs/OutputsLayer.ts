/** `Outputs` over the channel table: routes a change, plans its rows and sends each with the credentials of its channel. */
import { Effect, Layer } from "effect"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { Channel as ChannelConfig } from "../config/schema/Outputs.ts"
import type { Snapshot, TriggerProfile, Workspace } from "../config/Snapshot.ts"
import { foldRepo, hostTrigger } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import { hostUrls } from "../domain/HostUrls.ts"
import { newId } from "../domain/Ids.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import type { Operation, Publication } from "../domain/Publication.ts"
import type { ForgeClient } from "../forge/Forge.ts"
import { Forges } from "../forge/Forges.ts"
import { ModelRun } from "../llm/ModelRun.ts"
import { Cache } from "../store/Cache.ts"
import { AuthorGuess } from "./AuthorGuess.ts"
import type { ChannelKind, Planned, PublishInput, Reach, Sent } from "./Channel.ts"
import { channelTable } from "./Channels.ts"
import { findAtHost, isHostOperation, sendAtHost } from "./HostOperations.ts"
import { labelId, statusId } from "./OperationId.ts"
import { ChannelMissing, Outputs } from "./Outputs.ts"
import type { SentRow } from "./Outputs.ts"
import { channelNamed, route } from "./Routing.ts"
import type { Routed } from "./Routing.ts"

import { triageOperations } from "./TriageOperations.ts"
import { workspaceTemplates } from "./WorkspaceTemplates.ts"

/** Channel name of statuses and labels, which no route mentions. */
const hostChannel = "commit_status"
/** Of what follows from triage. */
const triageChannel = "triage"

const rowOf = (
  input: Pick<PublishInput, "runId" | "targetKey">,
  channel: string,
  position: number,
  planned: Planned
): Publication => ({
  id: newId(),
  operationId: planned.operationId,
  runId: input.runId,
  targetKey: input.targetKey,
  channel,
  operation: planned.operation,
  status: "pending",
  position,
  attempts: 0
})

/** Commits have a status where they are the head of a pull request at a git host. */
const hasStatus = ({ target, provider }: Change): boolean =>
  target.kind === "pull_request" && target.number !== undefined && isForgeKind(provider)

export const layer = Layer.effect(
  Outputs,
  Effect.gen(function* () {
    const config = yield* ConfigStore
    const forges = yield* Forges
    const cache = yield* Cache
    // Whoever sends has another context than this layer.
    const guess = yield* AuthorGuess
    const table = channelTable((kind) => forges.of(kind).bodyLimit)
    const kinds = new Map<string, ChannelKind>(Object.entries(table))
    const clients = new WeakMap<ChannelConfig, ForgeClient>()

    const routed = (workspace: Workspace, change: Change) =>
      recorded(route(workspace.outputs, change)).flatMap(({ channel, parts }) => {
        const kind = kinds.get(channel.kind)
        return kind === undefined || !kind.serves(change) ? [] : [{ channel, parts, kind }]
      })

    /** Routed channels that publish nothing of this change; the review says so where it does appear. */
    const unserved = (workspace: Workspace, change: Change): ReadonlyArray<string> =>
      route(workspace.outputs, change).flatMap(({ channel }) => {
        const kind = kinds.get(channel.kind)
        if (kind === undefined)
          return [
            `Nothing was sent to channel ${channel.name}: its kind ${channel.kind} is not available in this build.`
          ]
        return kind.serves(change)
          ? []
          : [
              `Nothing was sent to channel ${channel.name}: its kind ${channel.kind} publishes no ${change.target.kind}.`
            ]
      })

    /** The channel's links before the trigger's, and the templates in the workspace's directory. */
    const linked = (input: PublishInput, channel: ChannelConfig): PublishInput => {
      const trigger = config.current().triggers.get(input.change.trigger)?.settings
      const commit = channel.commit_url_template ?? trigger?.commit_url_template
      const revision = channel.revision_url_template ?? trigger?.revision_url_template
      const change = channel.change_url_template ?? trigger?.change_url_template
      const ownTemplates = workspaceTemplates(config.current(), input.workspace, input.change, channel.name)
      return { ...input, linkTemplates: { commit, revision, change }, ownTemplates }
    }

    const profileOf = (channel: ChannelConfig, change: Change, snapshot: Snapshot) => {
      const name = channel.trigger ?? hostTrigger(change)
      const profile = snapshot.triggers.get(name)
      return profile === undefined
        ? Effect.fail(
            new ChannelMissing({ message: `channel ${channel.name}: trigger ${name} is no longer configured` })
          )
        : Effect.succeed(profile)
    }

    /** The trigger's client, or one of the channel's own where it names another host or credential. */
    const clientOf = Effect.fnUntraced(function* (channel: ChannelConfig, change: Change) {
      const snapshot = config.current()
      const profile = yield* profileOf(channel, change, snapshot)
      if (!isForgeKind(profile.kind)) {
        return yield* new ChannelMissing({
          message: `channel ${channel.name}: trigger ${profile.name} is of kind ${profile.kind}, which has no pull requests`
        })
      }
      if (channel.token === undefined && channel.token_env === undefined && channel.base_url === undefined) {
        return forges.client(profile)
      }
      const known = clients.get(channel)
      if (known !== undefined) return known
      const made = forges.client(ownProfile(profile, channel, snapshot))
      clients.set(channel, made)
      return made
    })

    const reach = (
      workspace: Workspace,
      change: Change,
      publication: Publication
    ): Effect.Effect<{ readonly to: Reach; readonly kind: ChannelKind }, ChannelMissing> => {
      const channel = channelNamed(workspace.outputs, change.provider, publication.channel)
      const kind = channel === undefined ? undefined : kinds.get(channel.kind)
      return channel === undefined || kind === undefined
        ? Effect.fail(
            new ChannelMissing({
              message: `channel ${publication.channel} of workspace ${workspace.id} is no longer configured`
            })
          )
        : Effect.succeed({
            kind,
            to: {
              client: clientOf(channel, change),
              change: retarget(change, channel),
              workspace,
              channel,
              credential: config.current().credential,
              cache
            }
          })
    }

    const hostOf = (change: Change) => {
      const name = hostTrigger(change)
      const profile = config.current().triggers.get(name)
      return profile === undefined
        ? Effect.fail(new ChannelMissing({ message: `trigger ${name} is no longer configured` }))
        : Effect.succeed(forges.client(profile))
    }

    /** Undefined where there is no pull request to put a label on, or no label configured. */
    const labelled = (
      input: Omit<PublishInput, "analysis">,
      name: string | undefined,
      position: number
    ): ReadonlyArray<Publication> =>
      name === undefined || !hasStatus(input.change)
        ? []
        : [
            rowOf(input, hostChannel, position, {
              operationId: labelId(input, name),
              operation: { _tag: "Label", name }
            })
          ]

    const rowOfSent = (publication: Publication, { hostId, url, next = [] }: Sent): SentRow => ({
      hostId,
      url,
      next: next.map((planned) => rowOf(publication, publication.channel, publication.position, planned))
    })

    return Outputs.of({
      anyFor: (workspace, change) => routed(workspace, change).length > 0,
      plan: (input) => {
        const { triage: decision } = input.analysis
        if (decision !== undefined) {
          return triageOperations({ ...input, decision }).map((planned, at) => rowOf(input, triageChannel, at, planned))
        }
        const rows = routed(input.workspace, input.change)
          .flatMap(({ channel, parts, kind }) =>
            kind
              .plan(linked(noted(input, unserved(input.workspace, input.change)), channel), channel, parts)
              .map((planned) => ({ channel: channel.name, planned }))
          )
          .map(({ channel, planned }, position) => rowOf(input, channel, position, planned))
        return [...rows, ...labelled(input, input.workspace.review.labels.reviewed_tag, rows.length)]
      },
      status: (input, state, description) => {
        const { workspace, change, head, runUrl } = input
        const label = state === "pending" ? labelled(input, workspace.review.labels.auto_tag, 0) : []
        if (!workspace.review.status_check || !hasStatus(change)) return label
        const operation: Operation = {
          _tag: "Status",
          head,
          state,
          description,
          ...(runUrl === undefined ? {} : { url: runUrl })
        }
        return [rowOf(input, hostChannel, 0, { operationId: statusId(input, state), operation }), ...label]
      },
      send: Effect.fnUntraced(function* (workspace, change, publication, previous) {
        const { operation } = publication
        if (isHostOperation(operation)) {
          return { ...(yield* sendAtHost(yield* hostOf(change), change, operation)), next: [] }
        }
        const { to, kind } = yield* reach(workspace, change, publication)
        // What a channel asks of a model is accounted to the run that it publishes.
        const spender = {
          id: publication.runId,
          repository: `${hostTrigger(change)}:${foldRepo(change.repo.fullName)}`
        }
        const sent = yield* kind
          .send(to, publication, previous)
          .pipe(Effect.provideService(ModelRun, spender), Effect.provideService(AuthorGuess, guess))
        return rowOfSent(publication, sent)
      }),
      find: Effect.fnUntraced(function* (workspace, change, publication) {
        const { operation } = publication
        if (isHostOperation(operation)) {
          const written = yield* findAtHost(yield* hostOf(change), change, publication, operation)
          return written === undefined ? undefined : { ...written, next: [] }
        }
        const { to, kind } = yield* reach(workspace, change, publication)
        const found = yield* Effect.provideService(kind.find(to, publication), AuthorGuess, guess)
        return found === undefined ? undefined : rowOfSent(publication, found)
      })
    })
  })
)

/** Says of each channel whether the route also records managed issues. */
const recorded = (routed: ReadonlyArray<Routed>): ReadonlyArray<Routed> => {
  const issues = routed.some(({ channel }) => channel.kind.endsWith("_problem_issue"))
  return routed.map(({ channel, parts }) => ({ channel, parts: { ...parts, recorded: issues } }))
}

const noted = (input: PublishInput, notices: ReadonlyArray<string>): PublishInput =>
  notices.length === 0
    ? input
    : { ...input, analysis: { ...input.analysis, notices: [...input.analysis.notices, ...notices] } }

const ownProfile = (profile: TriggerProfile, channel: ChannelConfig, snapshot: Snapshot): TriggerProfile => {
  const settings =
    channel.base_url === undefined ? profile.settings : { ...profile.settings, base_url: channel.base_url }
  const { baseUrl, apiUrl } = channel.base_url === undefined ? profile : hostUrls(profile.kind, channel.base_url)
  const token = snapshot.credential(channel, "token")
  if (token === undefined) return { ...profile, baseUrl, apiUrl, settings }
  const { app: _app, ...withoutApp } = settings
  return { ...profile, baseUrl, apiUrl, token, settings: withoutApp }
}

/** The repository that the channel names in place of the change's. */
const retarget = (change: Change, { owner, repo, project_id: project }: ChannelConfig): Change => {
  if (typeof project === "number") return { ...change, repo: { ...change.repo, hostId: project } }
  if (project !== undefined) return { ...change, repo: { fullName: project } }
  if (owner === undefined && repo === undefined) return change
  const [ownOwner, ownName] = change.repo.fullName.split("/")
  return { ...change, repo: { fullName: `${owner ?? ownOwner}/${repo ?? ownName}` } }
}
