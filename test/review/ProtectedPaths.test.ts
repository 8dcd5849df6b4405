import { expect, it } from "vitest"
import { isProtectedPath } from "../../src/review/ProtectedPaths.ts"

it.each([
  [".github/workflows/ci.yml", true],
  ["packages/a/.github/CODEOWNERS", true],
  [".gitlab-ci.yml", true],
  ["ci/.gitlab-ci-deploy.yaml", true],
  ["Jenkinsfile", true],
  ["deploy/Dockerfile.prod", true],
  ["api.dockerfile", true],
  ["docker-compose.override.yml", true],
  ["infra/main.tf", true],
  ["web/package.json", true],
  ["requirements-dev.txt", true],
  ["go.mod", true],
  ["Cargo.toml", true],
  ["src/App.csproj", true],
  ["Makefile", true],
  [".npmrc", true],
  [".husky/pre-commit", true],
  [".gitmodules", true],
  ["docs/AGENTS.md", true],
  [".aicr/skills/sql.md", true],
  [".aicrignore", true],
  ["src/a.ts", false],
  ["docs/package.md", false],
  ["github/workflows/ci.md", false],
  ["package-lock.json", false],
  ["src/dockerfiles/readme.md", false]
])("%s: %s", (path, expected) => expect(isProtectedPath(path)).toBe(expected))
