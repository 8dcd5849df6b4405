/**
 * The whole service with a configuration in the database, which commands edit while it runs. In that of the records by default, also in Redis with
 * AICR_TEST_BACKENDS=all.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { AicrProcess } from "../harness/AicrProcess.ts"
import { Installation, makeToken, secret } from "../harness/Installation.ts"
import { RedisServer } from "../harness/Redis.ts"
import { takeSample } from "../harness/Samples.ts"
import { runAicr } from "../harness/RunAicr.ts"

const oldKey = "11".repeat(32)
const newKey = "22".repeat(32)
const literal = "hook-secret-0815"

const baseEnv = { TEST_TOKEN_0: makeToken(0), TEST_SECRET: secret, TEST_KEY: "key-of-the-model" }

/** The file without workspaces: they are in the database. */
const enableDatabase = (at: Installation, backend: string) => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  const { instances } = document.workspaces
  delete document.workspaces.instances
  document.config_sources = { database: { enabled: true, backend }, runtime: { refresh_interval_seconds: 3600 } }
  if (backend === "redis") document.storage.cache = { redis: { url_env: "TEST_REDIS" } }
  writeFileSync(file, stringify(document))
  const second = { kind: "gitea", base_url: "https://second.example", webhook_secret: literal }
  writeFileSync(
    join(at.directory, "database.yaml"),
    stringify({ entities: { workspaces: instances, triggers: { second } } })
  )
}

const command = (at: Installation, env: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  runAicr([...args, "--config", join(at.directory, "config.yaml")], { env })

const bytesOf = (at: Installation): string =>
  readdirSync(at.directory)
    .filter((name) => name.startsWith("aicr.db"))
    .map((name) => readFileSync(join(at.directory, name), "latin1"))
    .join("")

describe("the configuration of the database", () => {
  it.each(takeSample("AICR_TEST_BACKENDS", ["storage", "redis"], 2))(
    "%s: a published revision serves the next delivery, and survives a kill",
    async (backend) => {
      await using at = await Installation.make({ queue: "sqlite" })
      await using redis = backend === "redis" ? await RedisServer.start() : undefined
      enableDatabase(at, backend)
      const env = {
        ...baseEnv,
        SVC_CONFIG_SECRETS_KEY: oldKey,
        ...(redis === undefined ? {} : { TEST_REDIS: redis.url })
      }
      const configFile = join(at.directory, "config.yaml")
      const documentFile = join(at.directory, "database.yaml")
      await using service = new AicrProcess({ configFile, url: at.aicr.url, env })
      await service.start()
      const first = await at.open("first")
      expect(await at.forge.notify(first, "opened")).toMatchObject({
        body: { accepted: false, reason: "repository_not_configured" }
      })

      expect((await command(at, env, "config", "diff", documentFile)).out).toContain("affects 1 trigger: second\n")
      expect(await command(at, env, "config", "push", documentFile, "--reason", "start")).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^affects 1 workspace: team-one$[^]*^published revision 1$/m)
      })
      expect(await at.forge.notify(first, "reopened")).toMatchObject({ body: { accepted: true } })
      await at.reviewed(first)

      await service.kill()
      await service.start()
      const second = await at.open("second")
      expect(await at.forge.notify(second, "opened")).toMatchObject({ body: { accepted: true } })
      await at.reviewed(second)

      const pulled = (await command(at, env, "config", "pull")).out
      expect(parse(pulled).entities.triggers.second.webhook_secret).toBe("********")
      const shown = (await command(at, env, "config", "show")).out
      expect(shown).toMatch(
        /workspaces\.instances\.team-one\.source_repo\.repo = "team\/one" +# database revision 1 by cli:/
      )
      expect(shown).toMatch(/queue\.kind = "sqlite" +# config\.yaml:\d+/)

      const valid = readFileSync(configFile, "utf8")
      writeFileSync(configFile, valid.replace("kind: sqlite", "kind: none"))
      expect(await command(at, env, "secrets", "rotate")).toMatchObject({ code: 2 })
      writeFileSync(configFile, valid)
      const rotation = { ...env, SVC_CONFIG_SECRETS_KEY: newKey, SVC_CONFIG_SECRETS_KEY_PREVIOUS: oldKey }
      const rotated = await command(at, rotation, "secrets", "rotate")
      expect(rotated.out).toMatch(/sealed [1-9]\d* records of the database with the current key/)
      const only = { ...env, SVC_CONFIG_SECRETS_KEY: newKey }
      await service.stop()
      await using renewed = new AicrProcess({ configFile, url: at.aicr.url, env: only })
      await renewed.start()

      writeFileSync(documentFile, pulled.replace("https://second.example", "https://third.example"))
      expect(await command(at, only, "config", "push", documentFile)).toMatchObject({
        code: 2,
        err: expect.stringContaining("secret_destination_changed")
      })
      const restored = await command(at, only, "config", "restore", "1")
      expect(restored.out).toContain("nothing to publish")
      expect((await command(at, only, "config", "revisions")).out).toMatch(/^1 .* cli:\S+ +\d+ changes +start\n$/)

      expect(service.log + renewed.log + pulled + shown).not.toContain(literal)
      expect(bytesOf(at)).not.toContain(literal)
    },
    180_000
  )
})
