/** Pods of a cluster whose API is fake, and whose containers podman runs. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { makeDrivers } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { Sandboxes, SandboxError } from "../../../src/sandbox/Sandbox.ts"
import { sandboxNamespace, startKubernetes } from "../../harness/FakeKubernetes.ts"
import type { FakeKubernetes } from "../../harness/FakeKubernetes.ts"
import { startPodman } from "../../harness/Podman.ts"
import type { Podman } from "../../harness/Podman.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { describeConformance } from "../Conformance.ts"
import { listOrphans, makeFixture, resolveConfig, run, using } from "../Fixture.ts"
import type { Fixture } from "../Fixture.ts"

let podman: Podman
let cluster: FakeKubernetes
const root = mkdtempSync(join(tmpdir(), "aicr-kubernetes-"))
beforeAll(async () => {
  podman = await startPodman()
  cluster = await startKubernetes(podman, root, [dirname(process.execPath)])
}, 60_000)
afterAll(async () => {
  expect(cluster.violations).toEqual([])
  await cluster.stop()
  await podman.stop()
  rmSync(root, { recursive: true, force: true })
})

const configOf = (kubernetes: object = {}, more: object = {}) => ({
  kind: "kubernetes" as const,
  image: podman.image,
  kubernetes: { service_account_dir: cluster.serviceAccountDir, ...kubernetes },
  ...more
})

describeConformance([
  [
    "kubernetes",
    async () => ({
      config: configOf(),
      drivers: makeDrivers(cluster.environment),
      environment: cluster.environment,
      hasOpenProcesses: true,
      maxShare: 0.5,
      uid: expect.toSatisfy((uid: number) => uid > 10_000),
      count: async () => cluster.pods.size
    })
  ]
])

describe("a pod", () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture()
  })
  afterAll(() => fixture.close())
  afterEach(() => cluster.reset())

  const policy = { metadata: { name: "names" }, spec: { podSelector: {}, policyTypes: ["Egress"], egress: [{}] } }
  const open = { metadata: { name: "closed" }, spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] } }
  const noCluster = { KUBERNETES_SERVICE_HOST: "" }
  interface Refusal {
    readonly env?: object
    readonly cluster?: object
    readonly kubernetes?: object
    readonly more?: object
    readonly installation?: ReadonlyArray<string>
  }
  it.each<readonly [string, Refusal, RegExp]>([
    ["outside of a cluster", { env: noCluster }, /missing.*KUBERNETES_SERVICE_HOST.*are not set/],
    [
      "without a service account",
      { kubernetes: { service_account_dir: "/no/such" } },
      /missing.*\/no\/such\/token cannot be read.*service_account_dir/
    ],
    ["with an invalid token", { cluster: { token: "other" } }, /failed.*401: Unauthorized.*needs the Role/],
    [
      "in a namespace without rights",
      { kubernetes: { namespace: "default" } },
      /403.*cannot list in namespace .*default.*needs the Role/
    ],
    ["without a policy", { cluster: { policies: [] } }, /invalid.*aicr-sandboxes have a network: no NetworkPolicy/],
    [
      "with a policy that permits",
      { cluster: { policies: [open, policy] } },
      /NetworkPolicy names permits connections/
    ],
    [
      "in a cluster that does not apply its policies",
      { cluster: { enforces: false } },
      /network of the sandbox is open.*does not enforce NetworkPolicy/
    ],
    [
      "with an image that does not exist",
      { more: { image: "localhost/none:1" } },
      /missing.*localhost\/none:1 cannot be used by the cluster: .*correct sandbox.image/
    ],
    [
      "with programs of the service",
      { installation: ["/opt/agents"] },
      /invalid.*cannot mount folders of the service.*sandbox\.image/
    ]
  ])("is refused %s, and nothing is left", async (_, refusal, message) => {
    cluster.change(refusal.cluster ?? {})
    const kind = {
      config: configOf(refusal.kubernetes, refusal.more),
      drivers: makeDrivers({ ...cluster.environment, ...refusal.env }),
      installation: refusal.installation ?? []
    }
    const refused = await run(fixture, kind, "echo started").catch((error: unknown) => error)
    expect(refused instanceof SandboxError ? `${refused.reason}: ${refused.message}` : refused).toMatch(message)
    expect(listOrphans(fixture)).toEqual([])
    expect(cluster.pods.size).toBe(0)
  })

  it("is refused when the API does not respond", async () => {
    const kind = {
      config: configOf(),
      drivers: makeDrivers({ ...cluster.environment, KUBERNETES_SERVICE_PORT: "9" })
    }
    await expect(run(fixture, kind, "echo started")).rejects.toThrow(/Kubernetes API refused.*ECONNREFUSED/)
  })

  it("is in the configured namespace, or in that of the service account", async () => {
    const requested = async (kubernetes: object) => {
      const select = Effect.flatMap(Sandboxes, (sandboxes) => sandboxes.select(resolveConfig(configOf(kubernetes))))
      const kind = { config: configOf(), drivers: makeDrivers(cluster.environment) }
      return using(fixture, kind, select).catch(String)
    }
    expect(await requested({})).toBe("kubernetes")
    expect(await requested({ namespace: sandboxNamespace })).toBe("kubernetes")
    expect(await requested({ namespace: "other" })).toContain('namespace "other"')
  })

  it("of a service that is gone with its disk is removed by the next service, once it has ended", async () => {
    const spec = {
      restartPolicy: "Never",
      securityContext: { seccompProfile: { type: "RuntimeDefault" }, fsGroup: 10_000 },
      containers: ["sockets", "agent"].map((name) => ({
        name,
        image: podman.image,
        command: ["/bin/sh", "-c", "sleep 1"],
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10_000,
          runAsGroup: 10_000,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ["ALL"] }
        }
      }))
    }
    const metadata = { name: "aicr-sandbox-old", labels: { app: "aicr-sandbox", "aicr/sandbox": "1-0123456789ab-1" } }
    cluster.pods.create({ apiVersion: "v1", kind: "Pod", metadata, spec }, true)
    const phase = async () => JSON.stringify(await cluster.pods.find(metadata.name))
    await waitUntil(async () => (await phase()).includes('"phase":"Failed"'), { describe: () => "the pod has ended" })
    await run(fixture, { config: configOf(), drivers: makeDrivers(cluster.environment) }, "true")
    await waitUntil(() => cluster.pods.size === 0, { describe: () => "no pod is left" })
    expect(await cluster.pods.find(metadata.name)).toBeUndefined()
  })

  it("needs every right of the Role, and no other", async () => {
    await run(fixture, { config: configOf(), drivers: makeDrivers(cluster.environment) }, "true")
    const used = new Set(cluster.requests.map((request) => request.replace(/ \d+$/, "")))
    expect([...used].toSorted()).toEqual([
      "create pods",
      "delete pods",
      "get pods",
      "get pods/exec",
      "list networkpolicies",
      "list pods"
    ])
  })
})
