-- Read by Neovim 0.11 or newer after `:set exrc` and `:trust`.
vim.lsp.config("specledger", { cmd = { "spec", "lsp" }, filetypes = { "yaml" }, root_markers = { "specs", ".git" } })
vim.lsp.enable("specledger")
