/** Chat requests the review of a revision of a real Subversion repository that no hook has reported. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { chatDocument, chatEnv, deliverFeishu, feishuMessage } from "../harness/ChatPeople.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { review, startFakeModel } from "../harness/FakeModel.ts"
import { freePort } from "../harness/FreePort.ts"
import { nodeDocument } from "../harness/HookedNode.ts"
import { startSvnserve, SvnRepository, svnPassword, svnUser } from "../harness/Subversion.ts"
import { waitUntil } from "../harness/Wait.ts"

it("a revision that no hook reported is reviewed, an unknown one is refused", { timeout: 180_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-scenario-revisions-"))
  using repository = new SvnRepository()
  await using server = await startSvnserve(repository)
  const model = await startFakeModel(() =>
    review([
      { file: "src/main.c", line: 1, severity: "high", category: "bug", title: "Wrong value", message: "Wrong." }
    ])
  )
  const platform = await FakeChatPlatform.start()
  const port = await freePort()
  const configFile = join(directory, "config.yaml")
  const tree = {
    name: "tree",
    kind: "subversion",
    repository_url: server.url,
    username: svnUser,
    password_env: "TEST_PASSWORD"
  }
  const document = {
    ...nodeDocument({ directory, model }, port, { delay_seconds: 3600, include_branches: ["none"] }),
    triggers: [tree],
    workspaces: {
      root: join(directory, "workspaces"),
      instances: { web: { source_repo: { trigger: "tree", repo: `${server.url}/trunk` } } }
    },
    im: chatDocument(platform.url, { web: { workspace: "web" } })
  }
  writeFileSync(configFile, stringify(document))
  const env = {
    ...chatEnv,
    FEISHU_SECRET: platformSecrets.feishu,
    WECOM_SECRET: platformSecrets.wecom,
    TEST_PASSWORD: svnPassword
  }
  await using aicr = new AicrProcess({ configFile, url: `http://127.0.0.1:${port}`, env })
  try {
    await aicr.start()
    repository.commit("Start", { files: { "trunk/src/main.c": "int main() { return 0; }\n" } })
    const revision = repository.commit("Change", { files: { "trunk/src/main.c": "int main() { return 1; }\n" } })
    let sent = 0
    const until = async (text: string, end: string) => {
      const id = `m-${++sent}`
      await deliverFeishu(`${aicr.url}/callbacks/im/lark`, feishuMessage(id, text))
      await waitUntil(() => platform.repliesTo(id)[0]?.texts.at(-1)?.includes(end), {
        timeout: 60_000,
        describe: () => `${text}: ${JSON.stringify(platform.repliesTo(id))}\n${aicr.log.slice(-5000)}`
      })
      return platform.repliesTo(id)[0]?.texts.at(-1) ?? ""
    }
    expect(await until(`review web r${revision}`, "has ended")).toMatch(/Wrong value|Wrong\./)
    expect(await until("detail web " + revision, "Wrong")).toContain("high")
    expect(await until("review web 999", "has ended")).toContain("revision_not_found")
    expect(await until("review web branches/x", "Name the number")).toContain("branches/x")
    expect(await until(`cancel web ${revision}`, "nothing was cancelled")).toContain(revision)
    expect(JSON.stringify(model.requests)).toContain("return 1;")
  } finally {
    await aicr[Symbol.asyncDispose]()
    await model.close()
    await platform[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true, force: true })
  }
})
