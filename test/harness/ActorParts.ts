/** Small real-shaped parts for tests of single actors: a host that only knows one pull request, a configuration in force. */
import { Effect, Stream } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import type { ForgeClient, HostPull } from "../../src/forge/Forge.ts"
import { forgeTable } from "../../src/forge/ForgeTable.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { testSnapshot, testWorkspace } from "./TestSnapshot.ts"

const unexpected = Effect.die("this test's host is only asked for its pull request")

export const testForges = (pull: Effect.Effect<Pick<HostPull, "head" | "state">>): Forges["Service"] => {
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
        ...known
      })),
    branchHead: () => unexpected,
    newestCommit: () => unexpected,
    self: unexpected,
    canWrite: () => unexpected,
    createReview: () => unexpected,
    reviewTexts: () => unexpected,
    gitAuthorization: () => unexpected,
    createComment: () => unexpected,
    updateComment: () => unexpected,
    findComment: () => unexpected,
    setStatus: () => unexpected,
    issues: {
      list: () => unexpected,
      create: () => unexpected,
      edit: () => unexpected,
      remove: () => unexpected
    },
    threads: { list: () => unexpected, resolve: () => unexpected },
    commitComments: undefined,
    addLabel: () => unexpected,
    file: () => unexpected,
    commitAuthor: () => unexpected
  }
  return Forges.of({ of: (kind) => forgeTable[kind], client: () => client, forget: () => {} })
}

export const testSnapshotWith = (workspace: string, trigger: string): ConfigStore["Service"] => {
  const base = testSnapshot({})
  const settings = { name: trigger, kind: "gitea", enabled: true, trust_server_cert: false } as const
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
  const snapshot = {
    ...base,
    triggers: new Map([[trigger, profile]]),
    workspaces: new Map([[workspace, { ...testWorkspace(), id: workspace }]])
  }
  return ConfigStore.of({
    current: () => snapshot,
    pinned: () => snapshot,
    reload: Effect.succeed("unchanged"),
    changes: Stream.empty
  })
}
