/** `aicr agent` as a process: the list, refusals, and the check of a real agent CLI in a real sandbox; `aicr doctor` with an agent. */
import { execFile } from "node:child_process"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { beforeAll, expect, it } from "vitest"
import { agentFolder, provideCli } from "../harness/AgentClis.ts"
import { provide } from "../harness/Provide.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const root = join(import.meta.dirname, "../..")

const aicr = (folder: string, ...args: ReadonlyArray<string>) =>
  aicrWith(`${provide("bubblewrap")}:${process.env["PATH"] ?? ""}`, folder, ...args)

const aicrWith = (path: string, folder: string, ...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((done) => {
    execFile(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(root, "src/main.mjs"), ...args],
      {
        cwd: temporaryFolder(),
        env: {
          PATH: path,
          HOME: process.env["HOME"],
          SVC_AGENTS_DIR: folder
        }
      },
      (error, out, err) => done({ code: error === null ? 0 : Number(error.code), out, err })
    )
  })

/** A folder with a package of this version in the place of codex. */
const withVersion = async (version: string): Promise<string> => {
  const folder = temporaryFolder()
  const packages = join(folder, "codex", "node_modules", "@openai")
  const program = join(packages, "codex-linux-x64", "vendor", "x86_64-unknown-linux-musl", "bin")
  await mkdir(join(packages, "codex"), { recursive: true })
  await mkdir(program, { recursive: true })
  await writeFile(join(packages, "codex", "package.json"), JSON.stringify({ version }))
  await writeFile(join(program, "codex"), "")
  return folder
}

beforeAll(() => provideCli("codex"), 600_000)

it("list shows which CLIs are installed, in which versions, and the sandbox", async () => {
  const { code, out } = await aicr(await withVersion("0.1.0"), "agent", "list", "--json")
  expect(code).toBe(0)
  const { agents } = JSON.parse(out)
  expect(agents).toHaveLength(9)
  expect(agents).toContainEqual({
    mode: "codex",
    package: "@openai/codex",
    tested: "~0.169.0",
    is_tested: false,
    installed: "0.1.0",
    sandbox: "native"
  })
  expect(agents).toContainEqual(expect.objectContaining({ mode: "pi", installed: null, is_tested: false }))
})

it("check runs the CLI against the scripted model, and each point is ok", async () => {
  const { code, out } = await aicr(agentFolder, "agent", "check", "codex", "--json")
  expect(JSON.parse(out)).toMatchObject({
    mode: "codex",
    ok: true,
    checks: [
      "installed",
      "starts",
      "tool call arrives",
      "usage metered",
      "network closed",
      "provider key absent",
      "secrets absent",
      "killed without leftovers"
    ].map((point) => ({ point, ok: true }))
  })
  expect(code).toBe(0)
}, 120_000)

it("check names what to run for a CLI that is not installed, or in a sandbox that does not exist", async () => {
  const missing = await aicr(temporaryFolder(), "agent", "check", "codex")
  expect([missing.code, missing.out]).toEqual([2, expect.stringContaining("run aicr agent install codex")])
  const engine = await aicr(agentFolder, "agent", "check", "codex", "--sandbox", "docker")
  expect([engine.code, engine.out]).toEqual([2, expect.stringMatching(/^failed +installed +.*docker/)])
})

it("refuses unknown modes, and modes without a package", async () => {
  const unknown = await aicr(temporaryFolder(), "agent", "install", "nothing")
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("expected one of kilo, opencode")])
  const zoo = await aicr(temporaryFolder(), "agent", "install", "zoo")
  expect([zoo.code, zoo.err]).toEqual([2, expect.stringContaining("zoo has no release on npm")])
  const checked = await aicr(temporaryFolder(), "agent", "check", "zoo")
  expect([checked.code, checked.out]).toEqual([
    2,
    expect.stringMatching(
      /^failed +installed +agent mode zoo is not installed in .*zoo has no release on npm; put an own/
    )
  ])
  const listed = await aicr(temporaryFolder(), "agent", "list")
  expect(listed.out).toMatch(/^zoo +not installed, not on npm +~0\.1\.17/m)
  expect(listed.out).toMatch(/^pi +not installed +~/m)
})

it("doctor reports sandbox and CLI of each workspace", async () => {
  const file = join(temporaryFolder(), "config.yaml")
  await writeFile(
    file,
    JSON.stringify({
      triggers: [{ name: "local", kind: "manual" }],
      workspaces: {
        instances: {
          app: { source_repo: { trigger: "local", repo: "app" }, agent: { default: "codex" } },
          lib: { source_repo: { trigger: "local", repo: "lib" }, agent: { default: "pi", auto_approve: false } }
        }
      },
      agent: { default: "native-llm" }
    })
  )
  const folder = await withVersion("0.1.0")
  const { code, out } = await aicr(folder, "doctor", "--config", file, "--offline")
  expect(code).toBe(2)
  const without = await aicrWith("/no/such/folder", folder, "doctor", "--config", file, "--offline")
  expect(without.out).toMatch(
    /^error +workspace app: .*bubblewrap \(bwrap\) is not installed.*apt-get install bubblewrap/m
  )
  expect(out).toMatch(/^warning +workspace app: agent mode codex 0\.1\.0 is not a version that was tested/m)
  expect(out).toMatch(/^error +workspace lib: agent mode pi is not installed in .*; run aicr agent install pi$/m)
  expect(out).toMatch(/^warning +agent\.auto_approve: workspace lib, agent mode pi: false has no effect/m)
})

it("doctor reports the points of the check of each agent CLI", async () => {
  const file = join(temporaryFolder(), "config.yaml")
  await writeFile(
    file,
    JSON.stringify({
      triggers: [{ name: "local", kind: "manual" }],
      workspaces: { instances: { app: { source_repo: { trigger: "local", repo: "app" } } } },
      agent: { default: "codex" }
    })
  )
  const { out } = await aicr(agentFolder, "doctor", "--config", file)
  expect(out).toMatch(/^ok +workspace app: agent mode codex \S+ in sandbox native$/m)
  for (const point of ["starts", "tool call arrives", "network closed", "killed without leftovers"])
    expect(out).toMatch(new RegExp(`^ok +agent mode codex in sandbox native: ${point}: `, "m"))
}, 120_000)

it("the demo names what to install for a CLI that is not installed", async () => {
  const { code, err } = await aicr(temporaryFolder(), "demo", "--once", "--agent", "codex")
  expect([code, err]).toEqual([2, expect.stringContaining("run aicr agent install codex")])
})
