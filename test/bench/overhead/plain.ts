/**
 * A minimal script for comparison: receives a webhook, reads the pull request from the host, fetches two commits into a bare
 * repository, diffs, calls the model, posts the same statuses, summary and review. Checks nothing, stores nothing, and has no
 * recovery. Arguments: host URL, token, model URL, folder.
 */
import { execFile } from "node:child_process"
import { createServer } from "node:http"
import { promisify } from "node:util"

const [host = "", token = "", model = "", folder = ""] = process.argv.slice(2)
const run = promisify(execFile)
const git = async (...args: ReadonlyArray<string>): Promise<string> =>
  (
    await run("git", ["-c", `http.extraHeader=Authorization: token ${token}`, ...args], {
      cwd: folder,
      maxBuffer: 1 << 28
    })
  ).stdout

const api = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const answer = await fetch(`${host}/api/v1${path}`, {
    method,
    headers: { authorization: `token ${token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const parsed: unknown = await answer.json()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(parsed)}`)
  return parsed
}

interface Pull {
  readonly head: { readonly sha: string }
  readonly base: { readonly sha: string; readonly repo: { readonly full_name: string } }
}
interface Completion {
  readonly choices: ReadonlyArray<{
    readonly message: {
      readonly tool_calls: ReadonlyArray<{ readonly function: { readonly name: string; readonly arguments: string } }>
    }
  }>
}

/** Line in the new file of the first added line that holds the quote. */
const lineOf = (diff: string, file: string, quote: string): number => {
  let current = ""
  let line = 0
  for (const text of diff.split("\n")) {
    if (text.startsWith("+++ b/")) current = text.slice(6)
    const hunk = /^@@ -\d+(?:,\d+)? \+(\d+)/.exec(text)
    if (hunk !== null) line = Number(hunk[1]) - 1
    else if (text.startsWith("+") || text.startsWith(" ")) line++
    if (current === file && text.startsWith("+") && text.includes(quote)) return line
  }
  throw new Error(`no line of ${file} holds ${quote}`)
}

const review = async (payload: {
  readonly number: number
  readonly repository: { readonly full_name: string }
}): Promise<void> => {
  const repo = payload.repository.full_name
  const pull = (await api("GET", `/repos/${repo}/pulls/${payload.number}`)) as Pull
  const [head, base] = [pull.head.sha, pull.base.sha]
  const status = (state: string) =>
    api("POST", `/repos/${repo}/statuses/${head}`, { context: "aicr/review", state, description: state })
  await status("pending")
  await git("fetch", "--quiet", "--no-tags", `${host}/${repo}.git`, head, base)
  const from = (await git("merge-base", base, head)).trim()
  const diff = await git("diff", from, head)
  const answer = await fetch(`${model}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer x" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: diff }] })
  })
  const { choices } = (await answer.json()) as Completion
  const calls = (choices[0]?.message.tool_calls ?? []).map((call) => ({
    name: call.function.name,
    input: JSON.parse(call.function.arguments)
  }))
  const problems = calls.filter((call) => call.name === "report_problem").map((call) => call.input)
  await api("POST", `/repos/${repo}/issues/${payload.number}/comments`, { body: `${problems.length} problems` })
  await api("POST", `/repos/${repo}/pulls/${payload.number}/reviews`, {
    event: "COMMENT",
    commit_id: head,
    body: `${problems.length} problems`,
    comments: problems.map(({ file, quote, message }) => ({
      path: file,
      body: message,
      new_position: lineOf(diff, file, quote)
    }))
  })
  await status("success")
}

await git("init", "--quiet", "--bare", ".")
const server = createServer(async (request, response) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(Buffer.from(chunk))
  response.writeHead(202, { "content-type": "application/json" }).end("{}")
  await review(JSON.parse(Buffer.concat(chunks).toString("utf8")))
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (address !== null && typeof address === "object") process.send?.(address.port)
})
