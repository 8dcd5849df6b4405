/**
 * One review on every host, by the real process: the host's own signed webhook in, its own API out, each request held to the
 * host's published API description.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it, onTestFinished } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { startFakeForge, makeHostTrigger } from "../harness/FakeForge.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { waitUntil } from "../harness/Wait.ts"
import { listSummaries } from "../harness/Summaries.ts"

const quote = "  return total / 0"
/** Hosts where a problem of this severity fails the commit status. */
const failing: ReadonlyArray<string> = ["forgejo", "github"]

const reading = { gitea: "GET pulls/1", forgejo: "GET pulls/1", github: "GET pulls/1", gitlab: "GET merge_requests/1" }

/** The search for what was missed while the service was down: one list for all repositories of the owner. */
const searching = {
  gitea: "GET repos/issues/search",
  forgejo: "GET repos/issues/search",
  github: "GET search/issues",
  gitlab: "GET groups/team/merge_requests"
}

/**
 * Requests of the first review of a process. The pull request is read when the review starts and before each content write. The account and
 * the revision of the rules are read once, and for later reviews again.
 */
const costs = (kind: keyof typeof reading): ReadonlyArray<string> => {
  const pull = reading[kind]
  const own =
    kind === "gitlab"
      ? {
          rules: ["GET repository/branches/main"],
          comment: "POST merge_requests/1/notes",
          review: [
            "POST merge_requests/1/draft_notes",
            "GET merge_requests/1/draft_notes",
            "POST merge_requests/1/draft_notes/bulk_publish"
          ]
        }
      : {
          rules: ["GET branches/main"],
          comment: "POST issues/1/comments",
          // Gitea and Forgejo would submit what is pending together with the review.
          review: ["GET pulls/1/reviews", "POST pulls/1/reviews"]
        }
  const status = "POST statuses/HEAD"
  // At GitHub the summary is the text of the review.
  const written = kind === "github" ? ["POST pulls/1/reviews"] : [own.comment, pull, ...own.review]
  return [searching[kind], "GET user", pull, ...own.rules, status, pull, ...written, status]
}

const shape = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path.replace(/^\/(?:repos\/team\/one|projects\/team%2Fone)?\/?/, "").replace(/[0-9a-f]{40}/, "HEAD")}`

it.each(["gitea", "forgejo", "github", "gitlab"] as const)(
  "a pull request on %s is reviewed on the right line",
  async (kind) => {
    const directory = await mkdtemp(join(tmpdir(), "aicr-host-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const forge = await startFakeForge(kind)
    onTestFinished(forge.stop)
    await using model = await startFakeModel(
      review(
        [
          {
            file: "src/sum.ts",
            line: 1,
            severity: "high",
            category: "bug",
            title: "Division by zero",
            message: "This divides by zero.",
            quote
          }
        ],
        "One problem."
      )
    )
    const port = await freePort()
    const configFile = join(directory, "config.yaml")
    await writeFile(
      configFile,
      stringify({
        server: { port, hostname: "127.0.0.1" },
        triggers: [makeHostTrigger(kind, forge.url)],
        workspaces: { instances: { one: { source_repo: { trigger: "host", repo: "team/one" } } } },
        llm: {
          providers: [{ id: "fake", kind: "openai_compatible", base_url: `${model.url}/v1`, api_key: "k" }],
          model_chain: { default: [{ provider: "fake", model: "fake" }] }
        },
        agent: { default: "native-llm" },
        review: { output_language: "en", ...(failing.includes(kind) ? { status_fail_on: "medium" } : {}) },
        storage: { database: { sqlite: { path: "aicr.db" } }, object: { filesystem: { root: "objects" } } }
      })
    )
    const url = `http://127.0.0.1:${port}`
    await forge.createRepository("team/one")
    await using aicr = new AicrProcess({ configFile, url, env: { TEST_TOKEN: forge.token, TEST_SECRET: forge.secret } })
    await aicr.start()
    forge.setWebhookUrl(`${url}/webhooks/${kind}`)

    await forge.push("team/one", {
      branch: "main",
      message: "Start",
      files: { "src/sum.ts": "export const one = 1\n" }
    })
    await forge.push("team/one", {
      branch: "mean",
      from: "main",
      message: "Mean",
      files: { "src/sum.ts": `export const one = 1\n\nexport const mean = (total: number): number => {\n${quote}\n}\n` }
    })
    const pull = await forge.createPull("team/one", { title: "Mean", headBranch: "mean" })
    expect(await forge.notify(pull, "opened")).toMatchObject({
      status: 202,
      body: { accepted: true, provider: kind, workspace: "one" }
    })
    const status = () => pull.repository.statuses.get(pull.head)?.at(-1)
    await waitUntil(() => status()?.state === (failing.includes(kind) ? "failure" : "success"), {
      timeout: 60_000,
      describe: () => `the last status is there; the log says:\n${aicr.log}`
    })

    const placed = pull.reviews.flatMap(({ comments }) =>
      comments.map(({ path, line, side }) => ({ path, line, side }))
    )
    expect(placed).toEqual([{ path: "src/sum.ts", line: 4, side: "new" }])
    const summaries = listSummaries(pull)
    expect(summaries).toHaveLength(1)
    expect(status()?.targetUrl).toMatch(new RegExp(`#(issuecomment-|note_|pullrequestreview-)${summaries[0]?.id}$`))
    expect(summaries[0]?.body).toMatch(
      kind === "gitlab"
        ? /- \*\*1\*\* 🔴 High · \[Division by zero\]\(http[^)]*\/diffs#[0-9a-f]{40}\)/
        : /- \*\*1\*\* 🔴 High · \[Division by zero\]\(http[^)]*\/files#diff-[0-9a-f]{40,64}R4\)/
    )
    forge.expectContract()
    // The pending status and the rules are requested concurrently.
    expect(forge.requests.map(shape).toSorted()).toEqual(costs(kind).toSorted())
  }
)
