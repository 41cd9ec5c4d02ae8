beginSearch();
