/** Options of a container: isolation, user, mounts and limits. */
import { expect, it } from "vitest"
import { containerOptions } from "../../../src/sandbox/container/ContainerOptions.ts"
import { requestOver, testLimits } from "../Fixture.ts"

const request = {
  ...requestOver({ repository: "/r", sockets: { model: "/s/m", tools: "/s/t" } })("true", { cpus: 0.5 }),
  installation: ["/opt/agent"]
}
const settings = {
  image: "i",
  mark: "7-abc-1",
  inside: "/f/inside.mjs",
  toHost: (path: string) => `/host${path}`
}

it("isolates", () => {
  const options = containerOptions(request, settings)
  expect(options).toMatchObject({
    name: "aicr-7-abc-1",
    User: "65534:65534",
    Env: [],
    Tty: false,
    StdinOnce: true,
    Labels: { "aicr.sandbox": "7-abc-1", "aicr.run": "run-1", "aicr.pass": "pass-1" },
    HostConfig: {
      NetworkMode: "none",
      IpcMode: "private",
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: expect.arrayContaining(["no-new-privileges"]),
      LogConfig: { Type: "none" },
      RestartPolicy: { Name: "no" }
    }
  })
  expect(options.HostConfig).not.toHaveProperty("Privileged")
})

it("has the filter of system calls of the path", () =>
  expect(containerOptions(request, { ...settings, profile: "/f/p" }).HostConfig?.SecurityOpt).toContain(
    "seccomp=/host/f/p"
  ))

it("limits", () =>
  expect(containerOptions(request, settings).HostConfig).toMatchObject({
    Memory: testLimits.memoryBytes,
    MemorySwap: testLimits.memoryBytes,
    NanoCpus: 500_000_000,
    PidsLimit: testLimits.processes,
    Tmpfs: {
      "/tmp": expect.stringContaining(`size=${testLimits.fileBytes}`),
      "/run": expect.stringContaining("mode=755"),
      "/var/tmp": expect.stringMatching(/^ro,/)
    }
  }))

it("mounts paths of the host, read-only", () =>
  expect(containerOptions(request, settings).HostConfig?.Mounts).toEqual(
    [
      ["/host/r", "/repository"],
      ["/host/f/inside.mjs", "/run/aicr/inside.mjs"],
      ["/host/s/m", "/run/aicr/model.sock"],
      ["/host/s/t", "/run/aicr/tools.sock"],
      ["/host/opt/agent", "/opt/agent"]
    ].map(([Source, Target]) => ({ Type: "bind", Source, Target, ReadOnly: true }))
  ))
