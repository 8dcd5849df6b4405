/** The service in a container that is confined as `docker-compose.yml` and `deploy/agents/compose.yml` say, on an engine of podman. */
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { parse } from "yaml"
import { startPodman } from "../../harness/Podman.ts"
import type { Podman } from "../../harness/Podman.ts"
import { provide } from "../../harness/Provide.ts"
import { listOrphans, makeFixture } from "../Fixture.ts"
import type { Fixture } from "../Fixture.ts"
import { isRoot } from "../OtherUser.ts"

const root = join(import.meta.dirname, "../../..")
const read = (file: string) => readFileSync(join(root, file), "utf8")
/** The user `node` of the image, and a group for the socket of the engine. */
const [user, socketGroup] = [1000, 12_321]

const { aicr } = parse(read("docker-compose.yml"), { merge: true }).services
const { aicr: added } = parse(read("deploy/agents/compose.yml")).services

/** The settings of the two files as options of the command line. */
const confinement: ReadonlyArray<string> = [
  `--user=${user}`,
  `--read-only=${String(aicr.read_only)}`,
  ...aicr.cap_drop.map((name: string) => `--cap-drop=${name}`),
  ...aicr.security_opt.map((name: string) => `--security-opt=${name}`),
  ...aicr.tmpfs.map((text: string) => `--tmpfs=${text}`),
  `--pids-limit=${aicr.pids_limit}`,
  `--memory=${aicr.mem_limit}`,
  ...added.group_add.map(() => `--group-add=${socketGroup}`)
]

/** Bubblewrap of this machine, with the libraries that the image does not have. */
const bubblewrap = (): ReadonlyArray<string> => {
  const program = join(provide("bubblewrap"), "bwrap")
  const libraries = execFileSync("ldd", [program], { encoding: "utf8" }).match(/\/\S+/g) ?? []
  return [
    `--volume=${program}:/opt/bubblewrap/bwrap:ro`,
    ...libraries.map((path) => `--volume=${path}:/opt/bubblewrap/${basename(path)}:ro`)
  ]
}

describe.runIf(isRoot)("a service in a container", () => {
  let podman: Podman
  let fixture: Fixture
  beforeAll(async () => {
    podman = await startPodman({ node: "copy" })
    fixture = await makeFixture(user)
    chmodSync(dirname(podman.socket), 0o711)
    chownSync(podman.socket, 0, socketGroup)
    chmodSync(podman.socket, 0o660)
  }, 60_000)
  afterAll(async () => {
    await fixture.close()
    await podman.stop()
  })

  /** Runs the part of the service that starts sandboxes, with its data on a volume. */
  const runInside = (config: object, program: string, ...more: ReadonlyArray<string>) => {
    const at = (path: string) => path.replace(fixture.root, "/app/data")
    const { folder, repository, root: place, sockets } = fixture
    const inside = {
      root: at(place),
      repository: at(repository),
      folder: at(folder),
      sockets: { model: at(sockets.model), tools: at(sockets.tools) }
    }
    const [, socket = ""] = /^[^:]+:(.*)$/.exec(added.volumes[0]) ?? []
    const job = JSON.stringify({ place: inside, config, installation: [], program, limits: {} })
    return podman.run(
      "run",
      "--rm",
      "--network=none",
      ...confinement,
      ...more,
      `--volume=${podman.socket}:${socket}`,
      `--volume=${fixture.root}:/app/data`,
      `--volume=${root}:/repository:ro`,
      podman.image,
      "node",
      "--disable-warning=ExperimentalWarning",
      "/repository/test/sandbox/RunJob.ts",
      job
    )
  }

  it("starts sandboxes next to it through the socket that the file adds", () => {
    const printed = runInside(
      { kind: "docker_socket", image: podman.image },
      'id -u; cat "$REPO/file.txt"; touch /x || true'
    )
    expect(JSON.parse(printed.trim())).toMatchObject({
      exit: { reason: "exited", code: 0 },
      lines: ["65534", "reviewed"],
      notices: []
    })
    expect(listOrphans(fixture)).toEqual([])
    expect(podman.run("ps", "--all", "--quiet")).toBe("")
  })

  it("is refused bubblewrap, with the reason", () => {
    const library = "--env=LD_LIBRARY_PATH=/opt/bubblewrap"
    const path = "--env=PATH=/opt/bubblewrap:/usr/bin"
    expect(() => runInside({ kind: "native" }, "echo started", ...bubblewrap(), library, path)).toThrow(
      /cannot isolate programs on this machine: bwrap/
    )
  })
})
