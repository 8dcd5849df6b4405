/** The warning about agents without a sandbox. */
import { expect, it } from "vitest"
import { buildProblems } from "../../../src/app/BuildProblems.ts"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import { inEnglish } from "../../../src/text/en.ts"

const triggers = [{ name: "t", kind: "gitea", base_url: "https://git.example", webhook_secret: "hook", token: "t" }]

const problemsOf = (sandbox: object, enabled = true) => {
  const instance = { enabled, source_repo: { trigger: "t", repo: "a/b" } }
  const document = { triggers, agent: { sandbox }, workspaces: { instances: { w: instance } } }
  const { issues, snapshot } = readDocument(document, {}, { baseDir: "/base" })
  if (snapshot === undefined) throw new Error(issues.map(({ reason }) => inEnglish(reason)).join("\n"))
  return buildProblems(snapshot)
    .filter(({ path }) => path === "sandbox.native.unconfined")
    .map(({ reason, severity }) => `${severity}: ${inEnglish(reason)}`)
}

it("names each workspace that permits it", () =>
  expect(problemsOf({ native: { unconfined: true } })).toEqual([
    expect.stringMatching(/^warning: workspace w: .*WITHOUT A SANDBOX.*install bubblewrap/)
  ]))

it.each([
  ["by default", {}, true],
  ["when it is refused", { native: { unconfined: false } }, true],
  ["for a disabled workspace", { native: { unconfined: true } }, false]
])("is absent %s", (_, sandbox, enabled) => expect(problemsOf(sandbox, enabled)).toEqual([]))
