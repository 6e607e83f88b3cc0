# %% [markdown]
# # What operations cost
#
# In 1980 a multiplication took microseconds, and papers counted them. Counts here are measured: the formulation runs
# unchanged on numbers that notice what is done to them.

# %%
import forearm as fa

for stem in (
    "uicker_kahn_1969",
    "waters_1979",
    "hollerbach_1980_4x4",
    "hollerbach_1980_3x3",
    "luh_walker_paul_1980",
):
    six = fa.count(stem, 6)
    print(f"{stem:24}{six.multiplications:8} mul {six.additions:8} add    {fa.polynomial(stem)}")

# %% [markdown]
# These are the rows of Hollerbach's tables, counted anew. `fa.published()` sets each printed number beside ours.

# %%
for row in fa.published("hollerbach_1980", "II")[:6]:
    mul, add = row.multiplications, row.additions
    print(
        f"{row.row:16}{mul.published:>7} | {add.published:<7}{mul.ours:>7} | {add.ours:<7}{mul.status}; {add.status}"
    )

# %% [markdown]
# ## Exercise 1
#
# From how many joints on is the recursive 3x3 Lagrangian cheaper than Uicker's and Kahn's method? Count at n = 1, 2, 3.
#
# ### Solution

# %%
for n in (1, 2, 3):
    old, new = fa.count("uicker_kahn_1969", n), fa.count("hollerbach_1980_3x3", n)
    print(n, old.multiplications + old.additions, new.multiplications + new.additions)

# %% [markdown]
# ## Exercise 2
#
# Where do the 861 multiplications of Luh, Walker and Paul at six joints go? Which equation costs most, and what could
# be saved if the inertia tensors were diagonal?
#
# ### Solution

# %%
count = fa.count("luh_walker_paul_1980", 6)
for equation, tally in count.by_equation.items():
    print(f"{equation:5}{tally.multiplications:5} mul {tally.additions:5} add")
assert sum(t.multiplications for t in count.by_equation.values()) == count.multiplications == 861

# %% [markdown]
# NE8, the moments between links, costs most. The tensors are in NE6, I wd + w x (I w): two full matrix products and a
# cross product for each link, 24 multiplications. With a diagonal tensor each product takes 3 instead of 9, so 12 a
# link, 72 in all.
#
# ## Exercise 3
#
# A compiler sees more than a person: it knows which numbers of *this* arm are zero. How many operations are left for
# the torques of the PUMA 560?
#
# ### Solution

# %%
kernel = fa.compile(fa.load("puma560").without_drives(), "inverse_dynamics")
print(kernel.counts)
assert kernel.counts.operations < 861 + 690
