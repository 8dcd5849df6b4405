/**
 * Problems of Subversion revisions and Perforce changelists as managed issues in a repository of a git host: opened, updated and closed by the
 * real process, with the links and the author of the revision. One of both by default, and both with AICR_TEST_PUSHED_ISSUES=all.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startFakeForge } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { hookKey, nodeDocument } from "../harness/HookedNode.ts"
import { freePort } from "../harness/FreePort.ts"
import { makeFakeDepot, p4Password, p4User } from "../harness/perforce/PerforceDepot.ts"
import { takeTurn } from "../harness/Samples.ts"
import { SvnRepository } from "../harness/Subversion.ts"
import { waitUntil } from "../harness/Wait.ts"

const tracker = "team/tracker"

const lineOf = (mark: string): string => `int ${mark} = broken;`
const reportMarks = (marks: ReadonlyArray<string>) =>
  review(
    marks.map((mark) => ({
      file: "src/main.c",
      line: 1,
      severity: "high",
      category: "bug",
      title: `Problem of ${mark}`,
      message: `The value of ${mark} is wrong.`,
      quote: lineOf(mark)
    }))
  )

interface System {
  readonly trigger: Readonly<Record<string, unknown>>
  readonly perforce?: { readonly client_path: string }
  readonly path: string
  /** Changes the file and returns the body of the report. */
  readonly commit: (content: string) => Readonly<Record<string, unknown>>
  readonly link: (head: string) => string
}

const subversion = (): System => {
  const repository = new SvnRepository()
  onTestFinished(() => repository[Symbol.dispose]())
  return {
    trigger: {
      kind: "subversion",
      repository_url: repository.url,
      revision_url_template: "https://view.example/?rev={{revision}}"
    },
    path: "svn",
    commit: (content) => ({
      revision: repository.commit("Change", { author: "ada", files: { "trunk/src/main.c": content } })
    }),
    link: (head) => `https://view.example/?rev=${head}`
  }
}

const perforce = (): System => {
  const depot = makeFakeDepot()
  onTestFinished(() => depot[Symbol.asyncDispose]())
  return {
    trigger: {
      kind: "perforce",
      port: depot.port,
      user: p4User,
      password_env: "TEST_PASSWORD",
      depot_path: "//Ace/...",
      change_url_template: "https://swarm.example/changes/{{change}}"
    },
    perforce: { client_path: depot.program },
    path: "p4",
    commit: (content) => ({
      change: depot.submit("Change", { user: "ada", files: { "//Ace/main/src/main.c": content } }),
      depot_path: "//Ace/..."
    }),
    link: (head) => `https://swarm.example/changes/${head}`
  }
}

const systems: ReadonlyArray<readonly [string, () => System]> = [
  ["Subversion", subversion],
  ["Perforce", perforce]
]

it.each(takeTurn("AICR_TEST_PUSHED_ISSUES", systems))(
  "issues of %s are opened, updated and closed in the repository of the channel",
  async (_, makeSystem) => {
    const directory = mkdtempSync(join(tmpdir(), "aicr-scenario-issues-"))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const system = makeSystem()
    let marks: ReadonlyArray<string> = []
    let ended = 0
    const forge = await startFakeForge("gitea")
    onTestFinished(forge.stop)
    await using model = await startFakeModel(() => reportMarks(marks))
    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    const channel = { trigger: "hub", owner: "team", repo: "tracker" }
    writeFileSync(
      configFile,
      stringify({
        ...nodeDocument({ directory, model }, port, { delay_seconds: 0, include_branches: ["trunk", "main"] }),
        triggers: [
          { name: "source", ...system.trigger },
          {
            name: "hub",
            kind: "gitea",
            base_url: forge.url,
            token_env: "TEST_TOKEN",
            webhook_secret_env: "TEST_SECRET",
            write_interval_ms: 20
          }
        ],
        ...(system.perforce === undefined ? {} : { perforce: system.perforce }),
        workspaces: {
          root: join(directory, "workspaces"),
          instances: { app: { source_repo: { trigger: "source", repo: "app" } } }
        },
        outputs: {
          channels: [
            { name: "joined", kind: "gitea_issue", ...channel },
            { name: "problems", kind: "gitea_problem_issue", ...channel, assign_committer: true }
          ],
          routes: { default: { line_comments: ["problems", "joined"], summary: ["problems", "joined"] } }
        }
      })
    )
    const env = { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret, TEST_PASSWORD: p4Password }
    await using aicr = new AicrProcess({ configFile, url: `http://127.0.0.1:${port}`, env })
    await forge.createRepository(tracker)
    forge.user("ada")
    await aicr.start()
    const { issues } = forge.issues(tracker)
    const open = () => issues.filter(({ state }) => state === "open").map(({ title }) => title)

    /** Commits a file, in which the model finds these lines. */
    const commit = async (content: string, found: ReadonlyArray<string>, expected: ReadonlyArray<string>) => {
      marks = found
      const body = system.commit(content)
      const response = await fetch(`${aicr.url}/triggers/${system.path}`, {
        method: "POST",
        headers: { "x-api-key": hookKey, "content-type": "application/json" },
        body: JSON.stringify(body)
      })
      expect(response.status).toBe(202)
      ended++
      await waitUntil(() => aicr.log.split('"msg":"run ended"').length > ended, {
        timeout: 60_000,
        describe: () => `the end of run ${ended}:\n${aicr.log.slice(-6000)}`
      })
      await waitUntil(() => JSON.stringify(open().toSorted()) === JSON.stringify(expected.toSorted()), {
        timeout: 60_000,
        describe: () => `the issues ${JSON.stringify(expected)}: ${JSON.stringify(issues)}\n${aicr.log.slice(-6000)}`
      })
      return String(body["revision"] ?? body["change"])
    }
    const titleOf = (mark: string) => `[AICR] Problem of ${mark} (src/main.c)`
    const joined = `[AICR] Problems in ${system.path === "svn" ? "trunk" : "//Ace/main"}`
    const joinedBody = () => issues.find(({ title }) => title === joined)?.body ?? ""

    await commit("int good = 1;\n", [], [])
    const head = await commit(
      `${lineOf("first")}\n${lineOf("second")}\n`,
      ["first", "second"],
      [titleOf("first"), titleOf("second"), joined]
    )
    expect(joinedBody()).toContain("The value of first is wrong.")
    for (const { assignees, body, title } of issues) {
      expect(body).toContain(system.link(head))
      expect(assignees).toEqual(title === joined ? [] : ["ada"])
    }
    const second = await commit(`int first = 1;\n  ${lineOf("second")}\n`, ["second"], [titleOf("second"), joined])
    await waitUntil(() => !joinedBody().includes("first"), { describe: joinedBody })
    expect(joinedBody()).toContain(system.link(second))
    await commit("int first = 1;\nint second = 2;\n", [], [])
    expect(issues.map(({ state }) => state)).toEqual(["closed", "closed", "closed"])
    // The number of a revision is never looked up as a commit of the host.
    expect(forge.requests.filter(({ path }) => /\/commits?\//.test(path))).toEqual([])
    forge.expectContract()
  },
  180_000
)
