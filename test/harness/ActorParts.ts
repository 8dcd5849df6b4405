/** Parts for tests of single actors: stores in memory, a host with a single pull request, a configuration in force. */
import { Effect, Layer } from "effect"
import type { ConfigStore } from "../../src/config/ConfigStore.ts"
import { makeStaticStore } from "../../src/config/snapshots/FileConfigStore.ts"
import type { Snapshot, TriggerProfile } from "../../src/config/Snapshot.ts"
import type { ForgeClient, HostPull } from "../../src/forge/Forge.ts"
import type { ForgeError } from "../../src/forge/ForgeError.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { SwarmConversations } from "../../src/outputs/SwarmConversations.ts"
import { Progress } from "../../src/observability/Progress.ts"
import { Cancellations } from "../../src/queue/dispatch/Cancellations.ts"
import * as MemoryQueue from "../../src/queue/journal/MemoryQueue.ts"
import { NewerHeads } from "../../src/queue/dispatch/NewerHeads.ts"
import type { QueueLimits } from "../../src/queue/core/QueueLimits.ts"
import { Tickets } from "../../src/queue/dispatch/Tickets.ts"
import { AnalysisSpool } from "../../src/store/AnalysisSpool.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { testThreads } from "./Threads.ts"
import { testSnapshot, testWorkspace } from "./TestSnapshot.ts"
import { triggerDefaults } from "./TriggerDefaults.ts"

/** Stores of the actors and messages between them, in memory; no comments in Swarm are read. */
export const actorStores = (limits: QueueLimits = { perWorkspace: 100, total: 100 }) =>
  Layer.mergeAll(
    Store.layerMemory,
    MemoryQueue.layerMemory(limits),
    Tickets.layerMemory,
    Cancellations.layerMemory,
    NewerHeads.layerMemory,
    AnalysisSpool.layerNone,
    Progress.layer,
    Layer.mock(SwarmConversations, { channels: () => [] }),
    testThreads
  )

const unexpected = Effect.die("this test's host is only asked for its pull request")

export const testForges = (pull: Effect.Effect<Pick<HostPull, "head" | "state">, ForgeError>): Forges["Service"] => {
  const client: ForgeClient = {
    pull: (repo, number) =>
      Effect.map(pull, (known) => ({
        number,
        draft: false,
        base: "b",
        headRef: "feature",
        baseRef: "main",
        title: "",
        description: "",
        url: "",
        author: undefined,
        labels: [],
        repo,
        headRepo: repo,
        ...known
      })),
    describe: () => unexpected,
    openPulls: () => unexpected,
    branchHead: () => unexpected,
    branchTip: () => unexpected,
    newestCommit: () => unexpected,
    self: unexpected,
    canWrite: () => unexpected,
    writers: undefined,
    ownerOf: () => unexpected,
    repositoryId: () => unexpected,
    missing: () => unexpected,
    createReview: () => unexpected,
    verdicts: undefined,
    reviewTexts: () => unexpected,
    gitAuthorization: () => unexpected,
    createComment: () => unexpected,
    updateComment: () => unexpected,
    commentText: () => unexpected,
    findComment: () => unexpected,
    setStatus: () => unexpected,
    conversations: {
      read: () => unexpected,
      reply: () => unexpected,
      findReply: () => unexpected,
      react: () => unexpected,
      isPrivate: () => unexpected
    },
    changes: {
      deliveries: undefined,
      pulls: () => unexpected,
      issues: undefined,
      comments: () => unexpected,
      tips: () => unexpected,
      pushed: () => unexpected,
      ownStatus: () => unexpected
    },
    issues: {
      list: () => unexpected,
      read: () => unexpected,
      create: () => unexpected,
      edit: () => unexpected,
      remove: () => unexpected
    },
    threads: { list: () => unexpected, resolve: () => unexpected, mark: () => unexpected },
    commitComments: undefined,
    addLabel: () => unexpected,
    file: () => unexpected,
    commitAuthor: () => unexpected,
    ci: undefined,
    findAccount: undefined,
    hooks: {
      isApp: false,
      wider: () => [],
      list: () => unexpected,
      deliveries: () => unexpected,
      create: () => unexpected,
      update: () => unexpected,
      repositories: () => unexpected,
      newest: () => unexpected
    }
  }
  return Forges.of({ of: (kind) => forgeTable[kind], client: () => client, forget: () => {} })
}

export const testSnapshotWith = (
  workspace: string,
  trigger: string,
  own: Parameters<typeof testWorkspace>[0] = {}
): ConfigStore["Service"] => {
  const base = testSnapshot({})
  const settings = { name: trigger, kind: "gitea", ...triggerDefaults } as const
  const profile: TriggerProfile = {
    name: trigger,
    kind: "gitea",
    enabled: true,
    webhookSecret: undefined,
    token: undefined,
    baseUrl: "http://host.test",
    apiUrl: "http://host.test/api/v1",
    settings
  }
  const snapshot: Snapshot = {
    ...base,
    triggers: new Map([[trigger, profile]]),
    workspaces: new Map([[workspace, { ...testWorkspace(own), id: workspace, snapshot: () => snapshot }]])
  }
  return makeStaticStore(snapshot)
}

/** The same, with what a review reads of a host: its rules come from the commit `m`, and everybody may write. */
export const reviewedForges = (pull: Parameters<typeof testForges>[0]): Forges["Service"] => {
  const forges = testForges(pull)
  return {
    ...forges,
    client: (profile) => ({
      ...forges.client(profile),
      newestCommit: () => Effect.succeed("m"),
      branchTip: () => Effect.succeed({ commit: "m", isProtected: true }),
      canWrite: () => Effect.succeed(true),
      gitAuthorization: () => Effect.succeed(undefined)
    })
  }
}
