/** The kinds that a configuration permits, and requests that none runs. */
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { describe, expect, it } from "vitest"
import { findRequestProblem } from "../../../src/sandbox/SandboxesLayer.ts"
import { listCandidates } from "../../../src/sandbox/drivers/SandboxKinds.ts"
import { requestOver } from "../Fixture.ts"

it.each([
  [{}, ["native"]],
  [{ engine: "auto" }, ["podman", "docker", "native"]],
  [{ engine: "docker" }, ["docker"]],
  [{ engine: "podman" }, ["podman"]],
  [{ kind: "native", engine: "auto" }, ["native"]],
  [{ kind: "docker", engine: "auto" }, ["docker"]],
  [{ kind: "podman", engine: "podman" }, ["podman"]],
  [{ kind: "docker_socket", engine: "podman" }, ["docker_socket"]],
  [{ kind: "kubernetes" }, ["kubernetes"]]
] as const)("%j permits %j", (config, kinds) => expect(listCandidates(config)).toEqual(kinds))

it.each([
  [{ kind: "docker", engine: "podman" }, "sandbox.kind docker contradicts sandbox.engine podman"],
  [{ kind: "podman", engine: "docker" }, "sandbox.kind podman contradicts sandbox.engine docker"]
] as const)("%j is refused", (config, message) =>
  expect(listCandidates(config)).toMatchObject({ reason: "invalid", message: expect.stringContaining(message) })
)

describe("a request is refused for", () => {
  const request = requestOver({ repository: "/r", sockets: { model: "/m", tools: "/t" } })
  const withFile = (path: string) => request({ command: "x", files: [{ path, text: "" }] })
  it.each([
    ["nothing", request("true"), "nothing"],
    ["a relative repository", { ...request("true"), repository: "r" }, '"r" of a sandbox is not absolute'],
    ["a relative socket", { ...request("true"), sockets: { model: "/m", tools: "t" } }, '"t" of a sandbox'],
    ["a relative installation", { ...request("true"), installation: ["../x"] }, '"../x" of a sandbox'],
    ["the whole machine", { ...request("true"), installation: ["/usr/.."] }, "root folder"],
    ["a nested file", withFile("a/../b/c"), "nothing"],
    ["a file above scratch", withFile("a/../../b"), '"a/../../b" is not inside of the scratch folder'],
    ["an absolute file", withFile("/etc/x"), '"/etc/x" is not inside'],
    ["a file without a name", withFile(""), '"" is not inside']
  ])("%s", (_, value, message) =>
    expect(inEnglish(findRequestProblem(value) ?? verbatimReason("nothing"))).toContain(message)
  )
})
