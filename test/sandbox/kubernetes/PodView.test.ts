/** The state of a pod: whether it can be used, and how it ended. */
import { Schema } from "effect"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { expect, it } from "vitest"
import { findEnd, findReadiness, PodView } from "../../../src/sandbox/kubernetes/PodView.ts"

const pod = (status?: object) =>
  Schema.decodeUnknownSync(PodView)({ metadata: { name: "p" }, ...(status === undefined ? {} : { status }) })
const containers = (...states: ReadonlyArray<object | undefined>) => ({
  containerStatuses: states.map((state, at) => ({ name: at === 0 ? "agent" : "sockets", state }))
})
const [running, waiting] = [
  { running: { startedAt: "2026-01-01T00:00:00Z" } },
  { waiting: { reason: "ContainerCreating" } }
]

it.each([
  ["has no status", undefined, { state: "waiting", why: "no status" }],
  [
    "has no machine",
    { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", message: "0/3 nodes are available" }] },
    { state: "waiting", why: "0/3 nodes are available" }
  ],
  ["is created", containers(waiting, waiting), { state: "waiting", why: "ContainerCreating" }],
  ["runs in part", containers(running, waiting), { state: "waiting" }],
  ["runs with one container only", containers(running), { state: "waiting" }],
  [
    "pulls again",
    containers({ waiting: { reason: "ErrImagePull" } }, running),
    { state: "waiting", why: "ErrImagePull" }
  ],
  ["runs", containers(running, running), { state: "ready" }],
  [
    "has no image",
    containers(running, { waiting: { reason: "ImagePullBackOff", message: "not found" } }),
    { state: "failed", isImage: true, why: "container sockets: ImagePullBackOff: not found" }
  ],
  [
    "cannot be created",
    containers({ waiting: { reason: "CreateContainerConfigError" } }, running),
    { state: "failed", isImage: false, why: "container agent: CreateContainerConfigError" }
  ],
  [
    "ended early",
    containers({ terminated: { exitCode: 127 } }, running),
    { state: "failed", isImage: false, why: "container agent ended with 127" }
  ],
  [
    "was evicted",
    { phase: "Failed", reason: "Evicted", message: "low on memory" },
    { state: "failed", why: "low on memory" }
  ]
])("a pod that %s", (_, status, expected) => {
  const found = findReadiness(pod(status))
  expect("why" in found ? { ...found, why: inEnglish(found.why) } : found).toMatchObject(expected)
})

it.each([
  ["runs", containers(running, running), undefined],
  ["exited", containers({ terminated: { exitCode: 3, reason: "Error" } }, running), { code: 3, limit: undefined }],
  [
    "had no memory",
    containers({ terminated: { exitCode: 1, reason: "OOMKilled" } }, running),
    { code: 1, limit: "memory" }
  ],
  ["was killed", containers({ terminated: { exitCode: 137 } }, running), { code: 137, limit: "memory" }],
  [
    "took too long",
    { phase: "Failed", reason: "DeadlineExceeded" },
    { code: undefined, failure: verbatimReason("DeadlineExceeded") }
  ]
])("an agent that %s", (_, status, expected) => expect(findEnd(pod(status))).toEqual(expected))
