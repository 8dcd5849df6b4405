/**
 * Paths whose changes affect the build, the deployment, or the rules of reviews. An ignore file hides them only with
 * `review.ignore_file_scope: all`. Letter case does not matter: some of these names are found by tools that fold it.
 * Pure.
 */
import { anyGlob } from "../domain/Globs.ts"
import type { PathMatch } from "../domain/Globs.ts"

/** Names of files anywhere in the repository. */
const names = [
  // Continuous integration
  ".gitlab-ci*.{yml,yaml}",
  ".travis.yml",
  ".drone.{yml,yaml}",
  ".woodpecker.{yml,yaml}",
  ".appveyor.yml",
  "appveyor.yml",
  "azure-pipelines*.{yml,yaml}",
  "bitbucket-pipelines.yml",
  "cloudbuild.{yml,yaml}",
  "buildspec*.{yml,yaml}",
  "jenkinsfile*",
  "action.{yml,yaml}",
  ".pre-commit-config.yaml",
  // Containers and deployment
  "{dockerfile,containerfile}*",
  "*.{dockerfile,containerfile}",
  ".dockerignore",
  "{docker-,}compose*.{yml,yaml}",
  "{chart,values*,kustomization}.{yml,yaml}",
  "*.{tf,tfvars,hcl}",
  // Dependencies and builds
  "package.json",
  "{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,pnpm-workspace.yaml,deno.json,deno.jsonc,bunfig.toml}",
  "requirements*.{txt,in}",
  "{pyproject.toml,setup.py,setup.cfg,pipfile,environment.yml,pip.conf}",
  "{go.mod,go.work}",
  "{cargo.toml,build.rs}",
  "{gemfile,*.gemspec,composer.json,mix.exs,package.swift,podfile,pubspec.yaml}",
  "{pom.xml,build.gradle,build.gradle.kts,settings.gradle,settings.gradle.kts,gradle.properties,build.sbt}",
  "{*.csproj,*.fsproj,*.vbproj,directory.*.props,directory.*.targets,packages.config,nuget.config}",
  "{makefile*,gnumakefile,*.mk,cmakelists.txt,*.cmake,conanfile.*,vcpkg.json,meson.build,justfile,rakefile}",
  "{build.bazel,module.bazel,workspace.bazel,.bazelrc,flake.nix,default.nix}",
  // The repository itself
  "{.gitattributes,.gitmodules,.gitconfig,codeowners,owners}",
  "{agents.md,claude.md,review.md,.aicrignore}"
]

const folders = [
  ".github",
  ".gitea",
  ".forgejo",
  ".gitlab",
  ".circleci",
  ".buildkite",
  ".woodpecker",
  ".tekton",
  ".husky",
  ".cargo",
  ".mvn",
  ".aicr",
  ".cursor/rules",
  ".claude/skills",
  ".agents/skills"
]

const matches = anyGlob([...names.map((name) => `**/${name}`), ...folders.map((folder) => `**/${folder}/**`)])

export const isProtectedPath: PathMatch = (path) => matches(path.toLowerCase())
