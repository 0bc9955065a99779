-- Neovim 0.11 or newer: put this into your init.lua.
vim.filetype.add({ extension = { aic = "aic" } })
vim.lsp.config("aic", { cmd = { "aic", "lsp" }, filetypes = { "aic" }, root_markers = { "aic.toml", "cluster.aic" } })
vim.lsp.enable("aic")
vim.api.nvim_create_autocmd("FileType", { pattern = "aic", callback = function() vim.bo.commentstring = "// %s" end })
