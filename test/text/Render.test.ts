/** Every reason has a text in each language, which shows its parameters and no others. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { globSync, readFileSync } from "node:fs"
import { Reason, reasons, verbatimReason } from "../../src/domain/Reason.ts"
import type { Params } from "../../src/domain/ReasonParams.ts"
import { configurationReasons } from "../../src/domain/reasons/Configuration.ts"
import { fieldTexts } from "../../src/text/en/Fields.ts"
import { en, inEnglish } from "../../src/text/en.ts"
import { inChinese, zh } from "../../src/text/zh.ts"

const tables: Readonly<Record<string, Params>> = reasons
const rows = Object.entries(tables)
const languages = { en, zh }

const shownIn = (text: string): ReadonlyArray<string> =>
  [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name = ""]) => name))].toSorted()

/** A value for each kind, whose text is recognised in the text of the reason. */
const sample = (name: string, kind: string): unknown => {
  const nested = { _tag: "Text", text: `<${name}>` }
  const values: Readonly<Record<string, unknown>> = {
    text: `<${name}>`,
    number: 7,
    texts: [`<${name}>`, "<other>"],
    reason: nested,
    reasons: [nested, { _tag: "Text", text: "<other>" }]
  }
  return values[kind.replace("?", "")]
}

const example = (tag: string, params: Params, optional: boolean): Reason =>
  Schema.decodeUnknownSync(Reason)({
    _tag: tag,
    ...Object.fromEntries(
      Object.entries(params)
        .filter(([, kind]) => optional || !kind.endsWith("?"))
        .map(([name, kind]) => [name, sample(name, kind)])
    )
  })

describe.each(Object.entries(languages))("texts in %s", (_, { reasons: texts }) => {
  it("show every parameter of their reason and no other", () => {
    const wrong = Object.entries(texts).filter(
      ([tag, text]) => String(shownIn(text)) !== String(Object.keys(tables[tag] ?? {}).toSorted())
    )
    assert.deepStrictEqual(wrong, [])
  })
  it("leave out what is absent", () => {
    const unmarked = Object.entries(texts).filter(([tag, text]) => {
      const always = shownIn(text.replaceAll(/\[\[.*?\]\]/g, ""))
      return always.some((name) => tables[tag]?.[name]?.endsWith("?"))
    })
    assert.deepStrictEqual(unmarked, [])
  })
})

it.each(rows)("%s is shown in both languages with its values", (tag, params) => {
  for (const inLanguage of [inEnglish, inChinese])
    for (const optional of [true, false]) {
      const text = inLanguage(example(tag, params, optional))
      assert.notMatch(text, /[{}]|\[\[|\]\]|undefined|\[object/)
      if (optional)
        for (const [name, kind] of Object.entries(params)) if (!kind.startsWith("number")) assert.include(text, name)
    }
})

it("the failure of a model and the next step are joined in each language", () => {
  const refused: Reason = { _tag: "HttpFailed", status: 401, reason: verbatimReason("no") }
  const parts: ReadonlyArray<Reason> = [{ _tag: "ModelFailed", model: "a/b", reason: refused }, { _tag: "CheckKey" }]
  const failed: Reason = { _tag: "ModelsFailed", reasons: parts }
  assert.strictEqual(
    inEnglish(failed),
    "a/b: HTTP 401: no; the key is refused: check api_key_env of the provider, or its sign-in"
  )
  assert.strictEqual(inChinese(failed), "a/b：HTTP 状态码 401：no；密钥被拒绝：请检查提供商的 api_key_env 或其登录")
})

it("no tag is of two families", () => {
  const tags = globSync("src/domain/reasons/*.ts").flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/^ {2}(\w+): \{/gm)].map(([, tag = ""]) => tag)
  )
  assert.deepStrictEqual(
    tags.filter((tag, index) => tags.indexOf(tag) !== index),
    []
  )
  assert.isAbove(tags.length, 100)
})

describe("fields of the configuration", () => {
  const known = Object.keys(fieldTexts)
  const parts = new Set(known.flatMap((path) => path.split(".")))
  const isField = (name: string) =>
    known.some((path) => path === name || path.endsWith(`.${name}`) || path.startsWith(`${name}.`))
  const marks = (text: string) =>
    [...text.matchAll(/\{=((?:[^{}]|\{\w+\})+)\}/g)].map(([, name = ""]) =>
      name.replaceAll(/\[\]|\.\*|\.?\{\w+\}/g, "")
    )

  it("that texts mark exist", () => {
    const names = Object.values(en.reasons).flatMap(marks)
    assert.deepStrictEqual(
      names.flatMap((name) => name.split(".")).filter((part) => part !== "" && !parts.has(part)),
      []
    )
    assert.isAbove(names.length, 100)
  })
  it("are marked in every text but those of configurations, equally in both languages", () => {
    const common = Object.entries(en.reasons).filter(([tag]) => !Object.hasOwn(configurationReasons, tag))
    const unmarked = common.flatMap(([, text]) =>
      [...text.replaceAll(/\{=((?:[^{}]|\{\w+\})+)\}/g, "").matchAll(/[a-z_]+(?:\.\w+)+/g)].flatMap(([name]) =>
        isField(name) ? name : []
      )
    )
    assert.deepStrictEqual(unmarked, [])
    const chinese: Readonly<Record<string, string>> = zh.reasons
    const unequal = Object.entries(en.reasons).filter(
      ([tag, text]) => String(marks(text).toSorted()) !== String(marks(chinese[tag] ?? "").toSorted())
    )
    assert.deepStrictEqual(unequal, [])
  })
})

it("Chinese texts are Chinese", () => {
  const words = (text: string) => text.replaceAll(/\{[^}]*\}/g, "")
  const wrong = Object.entries(zh.reasons).filter(
    ([, text]) => /[a-z]{3}/i.test(words(text)) && !/[\u4E00-\u9FFF]/.test(text)
  )
  assert.deepStrictEqual(wrong, [])
})

it.each<[Reason, string, string]>([
  [
    { _tag: "WorkspacePaused", workspace: "a", reason: { _tag: "PausedBy", name: "root" } },
    "workspace a is paused: by root",
    "工作区 a 已暂停：操作人：root"
  ],
  [
    { _tag: "TargetBusy", entry: "e-1", status: "running" },
    "entry e-1 of the same target is running",
    "同一目标的条目 e-1：运行中"
  ],
  [{ _tag: "WorkerLost", count: 1 }, "its worker was lost", "执行它的进程已丢失"],
  [{ _tag: "WorkerLost", count: 2 }, "its worker was lost, 2 times", "执行它的进程已丢失 2 次"],
  [{ _tag: "NotDue" }, "is not due yet", "尚未到期"],
  [{ _tag: "NotDue", reason: verbatimReason("busy") }, "is not due yet (busy)", "尚未到期（busy）"]
])("%j is %s, and %s in Chinese", (reason, english, chinese) => {
  assert.strictEqual(inEnglish(reason), english)
  assert.strictEqual(inChinese(reason), chinese)
})

describe("a stored reason", () => {
  const decode = Schema.decodeUnknownSync(Reason)
  it.each(rows)("%s is the same after it was JSON", (tag, params) => {
    const reason = example(tag, params, true)
    assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(Schema.encodeSync(Reason)(reason)))), reason)
  })
  it("of another release stays readable", () => {
    const reason = decode({ _tag: "Later", of: { deep: [1] } })
    assert.deepStrictEqual(reason, { _tag: "Unknown", tag: "Later" })
    assert.strictEqual(inEnglish(reason), "Later")
  })
  it("with a parameter of another type is of another release", () => {
    assert.deepStrictEqual(decode({ _tag: "NewerHead", head: 7 }), { _tag: "Unknown", tag: "NewerHead" })
  })
})
