/** Texts of the service in Chinese: every reason, rule, notice and refusal of its sources has one. */
import { globSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { serviceTexts } from "../../../src/dashboard/text/ServiceTexts.ts"
import { makeTranslate } from "../../../src/dashboard/text/TranslateService.ts"
import { listTexts } from "./ListTexts.ts"

/** Sources whose texts operators read in the dashboard. */
const sources = [
  "actors/*.ts",
  "src/admin/*.ts",
  "src/admission/*.ts",
  "src/config/revisions/Effective.ts",
  "src/domain/{Change,Decision,Run}.ts",
  "src/queue/{AutomaticCommits,Enqueue,Queue}.ts",
  "src/queue/core/{Quarantined,Transitions}.ts",
  "src/queue/operator/*.ts",
  "src/llm/{CallChain,Gateway,Spending}.ts"
]

/** Texts that no page shows: of commands, prompts, requests, comments on the host, tasks in the log, and documentation. */
const unshown: Readonly<Record<string, ReadonlyArray<string>>> = {
  "actors/BatchKeeper.ts": [
    "automatic commits {}",
    "scan of due batches",
    "scan of all batches",
    "retention of batches"
  ],
  "actors/BudgetLedger.ts": ["notice of a refused reservation", "reservation wait"],
  "actors/ClaimEntry.ts": ["claim of a queue entry"],
  "actors/CommentCommand.ts": [
    "Commands, one per comment, for people with write access to this repository:",
    "- `/aicr review` or `/review`: review this pull request now",
    "- `/aicr cancel`: cancel the review that waits or runs",
    "- `/aicr help`: this text"
  ],
  "actors/DepotRouting.ts": ["VCS hook events"],
  "actors/EndRun.ts": ["Review in progress"],
  "actors/FenceKey.ts": ["fence key"],
  "actors/Housekeeping.ts": ["sweep step {}"],
  "actors/NoticeScan.ts": ["notices of {}"],
  "actors/PublishDecision.ts": [
    "; not all of it could be published",
    "when reviews of this repository are resumed",
    "This review is of commit {}. The newest commit, {}, will be reviewed {}."
  ],
  "actors/RefusedConfiguration.ts": ["notices of refused configurations"],
  "actors/ReviewExecutor.ts": ["queue wait"],
  "actors/Schedules.ts": ["scheduled reviews"],
  "actors/WorkspaceScheduler.ts": ["workspace scheduling"],
  "actors/WritePacer.ts": ["take a permit"],
  "src/admin/Available.ts": ["administration request"],
  "src/admin/ChatHandlers.ts": ["until {}"],
  "src/admin/LocalSocket.ts": [
    "Not Found",
    "Content Too Large",
    "its path has more than {} bytes",
    "another process serves it"
  ],
  "src/admin/RequestRules.ts": ["Expected no excess property", "Missing key"],
  "src/admin/SchemaText.ts": ["{ [name]: {} }"]
}

/** Files that hold documentation or prompts in addition to texts for operators. */
const isDocument = (file: string, text: string): boolean =>
  /admin\/(?:Description|DocsPage|RefusedConfigurations)\.ts$/.test(file) ||
  (/^src\/(?:agent|engine|review)\//.test(file) && (text.length > 200 || /^(?:a an the|# |Your response)/.test(text)))

/** True if the fixed parts of the text are in this one, in their order; a text of a source may be a part of a longer one. */
const holds = (english: string, text: string): boolean => {
  let at = 0
  for (const part of text.split("{}")) {
    const next = english.indexOf(part, at)
    if (next === -1) return false
    at = next + part.length
  }
  return true
}

const inChinese = makeTranslate(serviceTexts, (group, value) => `${group}.${value}`)

describe("the table", () => {
  it("has every text of the service that the dashboard shows", () => {
    const missing = sources.flatMap((pattern) =>
      globSync(pattern).flatMap((file) =>
        listTexts(file)
          .filter((text) => !isDocument(file, text) && unshown[file]?.includes(text) !== true)
          .filter((text) => !serviceTexts.some(([english]) => holds(english, text)))
          .map((text) => `${file}: ${text}`)
      )
    )
    expect(missing).toEqual([])
  })

  it("has each text once, with the same values in both languages", () => {
    const values = (text: string) => [...new Set(text.match(/\{\w+(?::\w+)?\}/g))].toSorted()
    expect(serviceTexts.filter(([english, chinese]) => String(values(english)) !== String(values(chinese)))).toEqual([])
    expect(new Set(serviceTexts.map(([english]) => english)).size).toBe(serviceTexts.length)
    expect(serviceTexts.filter(([, chinese]) => !/[\u4E00-\u9FFF]/.test(chinese))).toEqual([])
  })

  it("excludes no text that the sources do not have", () => {
    const stale = Object.entries(unshown).flatMap(([file, texts]) => {
      const present = listTexts(file)
      return texts.filter((text) => !present.includes(text)).map((text) => `${file}: ${text}`)
    })
    expect(stale).toEqual([])
  })
})

describe("a text of the service", () => {
  it.each([
    [
      "no workspace of trigger t binds a/b with branch main (source_repo or match of workspaces.instances)",
      "没有工作区（触发器 t）绑定 a/b 的分支 main（workspaces.instances 的 source_repo 或 match）"
    ],
    [
      "review.skip_drafts is true; review.comment_commands is false",
      "review.skip_drafts 为 true；review.comment_commands 为 false"
    ],
    ["a reason of a person; another", "a reason of a person; another"],
    ["", ""]
  ])("%j is %j", (english, chinese) => {
    expect(inChinese(english)).toBe(chinese)
  })

  it("with a long value of a stranger is not searched", () => {
    const long = `workspace ${"a; ".repeat(2000)} is paused: x`
    expect(inChinese(long)).toBe(long)
  })
})
