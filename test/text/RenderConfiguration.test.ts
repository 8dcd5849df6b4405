/** Problems of a configuration in both languages: what is expected and what is found are reasons in the reason. */
import { assert, it } from "@effect/vitest"
import { readText } from "../../src/config/LoadConfig.ts"
import { inEnglish } from "../../src/text/en.ts"
import { inChinese } from "../../src/text/zh.ts"

it.each([
  [
    'server: {port: "3"}',
    'expected a whole number from 1 to 65535, found the text "3" (without quotes it is a number)',
    "应为 1 至 65535 的整数，实际为 文本“3”（去掉引号即为数字）"
  ],
  [
    "queue: {kind: redys}",
    'expected one of memory, sqlite, redis, nats, found "redys"; did you mean "redis"?',
    '应为 memory、sqlite、redis、nats 之一，实际为 "redys"；您是指 "redis" 吗？'
  ],
  ["triggers: [{kind: manual}]", "missing; expected text of 1 to 4096 characters", "缺少；应为 1 至 4096 个字符的文本"],
  [
    "llm: {providers: [{id: y, kind: openai_compatible}], model_chain: {default: [{provider: x, model: m}]}}",
    '"x" does not exist in llm.providers; did you mean "y"?; there are y',
    'llm.providers 中没有 "x"；您是指 "y" 吗？；现有 y'
  ],
  [
    "llm: {providers: [{id: y, kind: openai_compatible, api_key: k, api_key_env: K}]}",
    "wins over llm.providers[0].api_key_env, which is not used",
    "优先于 llm.providers[0].api_key_env，后者不被使用"
  ],
  [
    "server: {base_url: 'http://x",
    "not valid YAML: a bracket that begins here is not closed; close it; the line is: server: {base_url: 'http://x",
    "不是有效的 YAML：从此处开始的括号未闭合；请闭合；该行为：server: {base_url: 'http://x"
  ]
])("%s", (text, english, chinese) => {
  const reasons = readText(text, {}).issues.map(({ reason }) => reason)
  assert.include(reasons.map(inEnglish), english)
  assert.include(reasons.map(inChinese), chinese)
})
