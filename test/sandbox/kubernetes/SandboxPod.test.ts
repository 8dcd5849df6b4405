/** The pod of a sandbox: isolation, limits and the fields of its configuration. Its type is that of the published description. */
import { expect, it } from "vitest"
import { sandboxPod } from "../../../src/sandbox/kubernetes/SandboxPod.ts"
import type { PodSettings } from "../../../src/sandbox/kubernetes/SandboxPod.ts"
import { findPodProblems } from "../../harness/KubernetesAdmission.ts"
import { requestOver, testLimits } from "../Fixture.ts"

const request = requestOver({ repository: "/r", sockets: { model: "/s/m", tools: "/s/t" } })("true", { cpus: 0.5 })
const cluster = { image_pull_secrets: [], node_selector: {}, runtime_class: undefined, start_timeout_seconds: 180 }
const settings: PodSettings = { mark: "7-abc-1", image: "i", programs: { "inside.mjs": "text" }, user: 12_345, cluster }
const podOf = (more: Partial<PodSettings["cluster"]> = {}, image = "i") =>
  sandboxPod(request, { ...settings, image, cluster: { ...cluster, ...more } })

it("isolates", () => {
  const pod = podOf()
  expect(findPodProblems(pod)).toEqual([])
  expect(pod).toMatchObject({
    metadata: { name: "aicr-sandbox-7-abc-1", annotations: { "aicr/run": "run-1", "aicr/pass": "pass-1" } },
    spec: {
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "None",
      containers: [
        { name: "sockets", securityContext: { readOnlyRootFilesystem: true, runAsUser: 10_000 } },
        { name: "agent", securityContext: { readOnlyRootFilesystem: true, runAsUser: 12_345 } }
      ]
    }
  })
})

it("lets the agent write to its scratch folder only, and no container to the other's programs", () => {
  const [sockets, agent] = podOf().spec?.containers ?? []
  const writable = (container: typeof agent) =>
    container?.volumeMounts?.flatMap(({ mountPath, readOnly }) => (readOnly === true ? [] : [mountPath]))
  expect(writable(agent)).toEqual(["/tmp"])
  expect(writable(sockets)).toEqual(["/run/aicr-link", "/repository"])
  expect(agent?.env).toBeUndefined()
})

it("limits", () => {
  const pod = podOf()
  const [, agent] = pod.spec?.containers ?? []
  expect(agent?.resources?.limits).toMatchObject({ cpu: "0.5", memory: `${testLimits.memoryBytes + 50_331_648}` })
  expect(agent?.command?.at(-1)).toMatch(/ulimit -f 32768\nulimit -u 96 .*\|\| ulimit -p 96\nexec node/)
  expect(pod.spec?.volumes).toContainEqual({
    name: "scratch",
    emptyDir: { medium: "Memory", sizeLimit: `${testLimits.fileBytes}` }
  })
  expect(pod.spec?.activeDeadlineSeconds).toBe(testLimits.timeMillis / 1000 + 240)
})

it("never pulls the image that is built on the spot", () => {
  const policies = (image: string) => podOf({}, image).spec?.containers.map(({ imagePullPolicy }) => imagePullPolicy)
  expect(policies("registry.example/agents:1")).toEqual(["IfNotPresent", "IfNotPresent"])
  expect(policies("aicr-agents:0.1.0")).toEqual(["Never", "Never"])
})

it.each([
  ["start_timeout_seconds", { start_timeout_seconds: 7 }, { activeDeadlineSeconds: 87 }],
  ["runtime_class", { runtime_class: "gvisor" }, { runtimeClassName: "gvisor" }],
  ["node_selector", { node_selector: { pool: "agents" } }, { nodeSelector: { pool: "agents" } }],
  ["image_pull_secrets", { image_pull_secrets: ["registry"] }, { imagePullSecrets: [{ name: "registry" }] }]
])("has sandbox.kubernetes.%s", (_, given, expected) => {
  expect(podOf(given).spec).toMatchObject(expected)
  expect(podOf().spec).not.toMatchObject(expected)
})
